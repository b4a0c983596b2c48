// The module of the playground in node: it answers calls as headers, golden vectors and the program
// do, and computes the program's digest.
// usage: node module_test.js MODULE LOCKSTEP VECTORS
"use strict";

const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");

const [modulePath, lockstep, vectorDirectory] = process.argv.slice(2);
const program = (...words) =>
  execFileSync(lockstep, words, { encoding: "utf-8", maxBuffer: 1 << 26 });
const vectorFiles = readdirSync(vectorDirectory).filter((name) => name.endsWith(".json"))
  .filter((name) => name !== "schema.json");
const vectorText = (name) => readFileSync(join(vectorDirectory, name), "utf-8");

// Every example of every operator: outputs, inferred types, gas and the case's line.
function testExamples(module) {
  const { operators } = JSON.parse(program("spec", "--json"));
  let count = 0;
  for (const op of operators) {
    assert(op.examples.length > 0, op.name);
    for (const e of op.examples) {
      const { answer, types, gas, case: id } = module.answer(JSON.stringify(e.call));
      assert.deepStrictEqual(answer.out, e.out, e.case);
      assert.deepStrictEqual(types, e.out.map(({ shape, prec }) => ({ shape, prec })), e.case);
      assert.deepStrictEqual([gas, id], [e.gas, e.case]);
      assert.deepStrictEqual(module.call(e.case).in, e.call.in, e.case);
      count += 1;
    }
  }
  return `${count} examples of ${operators.length} operators`;
}

// Every golden vector whose values are written out: the label of a refused call, or the outputs.
function testVectors(module) {
  const count = { ok: 0, error: 0 };
  for (const name of vectorFiles) {
    const text = vectorText(name), { operator, tests } = JSON.parse(text);
    // The text of a call, in which integers have all their digits.
    const calls = new Map([...text.matchAll(/"tcId":"([^"]*)".*?("attrs":.*?),"result":/g)]
      .map(([, id, call]) => [id, `{"id":1,"op":"${operator}",${call}}`]));
    for (const t of tests) {
      const call = calls.get(t.tcId);
      if (call.includes('"recipe":')) continue;
      const { answer } = module.answer(call);
      if (t.result === "error") {
        assert.strictEqual(answer.label, t.label, `${t.tcId} ${call}`);
        assert(answer.message.length > 0, t.tcId);
      } else {
        const out = t.out.map(({ shape, prec, data }) => ({ shape, prec, data }));
        assert.deepStrictEqual(answer.out, out, t.tcId);
      }
      count[t.result] += 1;
    }
  }
  assert(count.ok > 1000 && count.error > 1000);
  return `${count.ok} vectors and ${count.error} refused ones`;
}

// What the page must not compute, and what is no call.
function testLimits(module) {
  const relu = (shape) =>
    module.answer(`{"id":1,"op":"relu","attrs":{},"in_prec":[8],"in":[{"shape":[${shape}]}]}`);
  const whole = relu("64,128");
  assert.strictEqual(whole.answer.out[0].data.length, 8192);
  const large = relu("64,129");
  assert.strictEqual(large.answer.status, "unsupported");
  assert.match(large.answer.message, /have 16512 elements together; the page .* up to 16384/);
  assert.deepStrictEqual(large.types, [{ shape: [64, 129], prec: 8 }]);
  assert.strictEqual(large.gas, 5 * 2 * 8256 + 8256);
  assert.strictEqual(large.case, undefined);
  assert.strictEqual(relu("32768,32768").answer.label, "eval.memory");
  assert.strictEqual(relu("2").answer.status, "ok"); // after that, too
  assert.strictEqual(module.answer("{").answer.label, "line.json");
  assert.deepStrictEqual(module.call("relu/in=3@8/fill=range:1").in, [{ shape: [3],
    data: [-126, -125, -124] }]);
  assert.match(module.call("relu").error, /in= is missing/);
  assert.match(module.call("relu/in=2000x2000@8").error, /4000000 elements/);
  return "limits";
}

function testDigest(module) {
  module.store(Object.fromEntries(vectorFiles.map((name) => [name, vectorText(name)])));
  assert.match(module.digest("/nowhere", 1).error, /nowhere/);
  let step = module.digest("/vectors", 100);
  for (assert.strictEqual(step.done, 100); !step.digest; step = module.digest("/vectors", 100));
  assert.strictEqual(step.digest, program("digest", "reference", "--tier", "0", "--quiet").trim());
  return step.digest;
}

function test(made) {
  const call = (name, types) => (...texts) =>
    JSON.parse(made.ccall(`lockstep_${name}`, "string", types, texts));
  const module = {
    answer: call("answer", ["string"]),
    call: call("call", ["string"]),
    digest: call("digest", ["string", "number"]),
    store(files) {
      made.FS.mkdir("/vectors");
      for (const [name, text] of Object.entries(files)) made.FS.writeFile(`/vectors/${name}`, text);
    },
  };
  for (const part of [testExamples, testVectors, testLimits, testDigest])
    console.log(part(module));
}

// An error that nobody catches prints the whole module.
require(modulePath)().then(test).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
