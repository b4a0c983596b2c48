// The playground: a call in a form, which the reference (module.js) evaluates at every change. The
// address holds the call as a case id does, so that a link is a call:
//   op/attribute=value/in=2x3@8+3@8/data=1,2,3,4,5,6+7,8,9
// What a case id cannot spell, such as a value that is no integer, is percent-encoded.
"use strict";

(() => {
  const MOST_VALUES = 16384;
  const UNAIDED = { spellcheck: false, autocomplete: "off" };
  const { operators, labels, digest } = lockstepSite;
  const $ = (id) => document.getElementById(`playground-${id}`);

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  const extentsOf = (text) => text.split(/[\sx\u00d7,()[\]]+/).filter(Boolean);
  const valuesOf = (text) => text.split(/[\s,;()[\]]+/).filter(Boolean);
  const isInteger = (text) => /^-?\d+$/.test(text);
  // JSON has no leading zeros.
  const integers = (texts) => texts.map((text) => BigInt(text).toString()).join(",");
  const operatorOf = (name) => operators.find((op) => op.name === name || op.alias === name);

  // ---- links ------------------------------------------------------------------------------------

  function linkOf(call) {
    // A tuple loses its brackets; other text that would gain them is encoded.
    const value = (text) =>
      /^\([-\d,]*\)$/.test(text) ? text.slice(1, -1)
        : isInteger(text) ? text : encodeURIComponent(text);
    const list = (texts) => texts.map(encodeURIComponent);
    const attrs = Object.entries(call.attrs).map(([name, text]) => `/${name}=${value(text)}`);
    const type = (x) => `${list(extentsOf(x.shape)).join("x")}@${encodeURIComponent(x.precision)}`;
    const types = call.inputs.map(type);
    const data = call.inputs.map((x) => list(valuesOf(x.data)).join(","));
    return `${call.op}${attrs.join("")}/in=${types.join("+")}/data=${data.join("+")}`;
  }

  function callOf(link, module) {
    if (link.includes("/fill=")) return callOfLine(module.call(decodeURIComponent(link)));
    const [name, ...parts] = link.split("/");
    const op = operatorOf(name);
    if (!op) throw new Error(`there is no operator '${decodeURIComponent(name)}'`);
    const call = { op: op.name, attrs: {}, inputs: [] };
    const list = (value) => (value === undefined ? [] : value.split("+"));
    const texts = {};
    for (const part of parts) {
      const [, key, value] = /^([^=]*)=?(.*)$/.exec(part);
      const about = op.attributes.find((a) => a.name === key);
      if (about) {
        const bare = about.type === "tuple" && /^[-\d,]*$/.test(value);
        call.attrs[key] = bare ? `(${value})` : decodeURIComponent(value);
      } else if (["in", "data", "memory"].includes(key)) {
        texts[key] = value; // where tensors lie in memory changes no result
      } else {
        throw new Error(`${op.name} has no attribute '${decodeURIComponent(key)}'`);
      }
    }
    const data = list(texts.data).map((values) => values.split(",").map(decodeURIComponent));
    call.inputs = list(texts.in || undefined).map((type, k) => {
      const [shape, precision = ""] = type.split("@").map(decodeURIComponent);
      return { shape, precision, data: rows(extentsOf(shape), data[k] ?? []) };
    });
    return call;
  }

  function callOfLine(line) {
    if (line.error) throw new Error(line.error);
    const inputs = line.in.map((x, k) => ({
      shape: x.shape.join("x"),
      precision: String(line.in_prec[k]),
      data: rows(x.shape, x.data ?? []),
    }));
    return { op: line.op, attrs: line.attrs, inputs };
  }

  // ---- tensors as text --------------------------------------------------------------------------

  // One line for each row, and an empty line between matrices. Values of a column are aligned.
  function rows(shape, values) {
    const [columns = 1, height = 1] = shape.map(Number).reverse();
    const width = Math.max(0, ...values.map((value) => String(value).length));
    let text = "";
    values.forEach((value, i) => {
      if (i > 0) text += i % columns ? ", " : i % (columns * height) ? "\n" : "\n\n";
      text += String(value).padStart(width);
    });
    return text;
  }

  const typeText = (shape, precision) => `${shape.join("x")}, precision ${precision}`;

  // ---- the form ---------------------------------------------------------------------------------

  function showOperator(op) {
    $("operator").value = op.name;
    const page = element("a", { href: `operators/${op.name}.html`, textContent: "Its page" });
    $("summary").replaceChildren(`${op.summary} `, page);
    $("example").replaceChildren(
      element("option", { value: "", textContent: "(the call below)" }),
      ...op.examples.map((e) => element("option", { value: e.link, textContent: e.text })));
    $("attributes").replaceChildren(...op.attributes.map(attributeRow));
    $("attributes").hidden = op.attributes.length === 0;
  }

  function attributeRow(about) {
    const id = `playground-attribute-${about.name}`;
    const input = element("input", { id, name: about.name, ...UNAIDED });
    input.placeholder = about.required ? "required" : about.default;
    input.setAttribute("aria-describedby", `${id}-text`);
    const choices = about.type === "bool" ? ["true", "false"] : (about.words?.split("|") ?? []);
    const list = element("datalist", { id: `${id}-words` },
      ...choices.map((value) => element("option", { value })));
    if (choices.length) input.setAttribute("list", list.id);
    return element("div", { className: "playground-row" },
      element("label", { htmlFor: id, textContent: about.name }), input, list,
      element("span", { id: `${id}-text`, textContent: `${about.type}: ${about.text}` }));
  }

  function tensorField(x) {
    const field = (tag, name, value) => element(tag, { name, value, ...UNAIDED });
    const data = field("textarea", "data", x.data);
    data.placeholder = "nothing: zeros";
    data.rows = Math.min(10, Math.max(2, x.data.split("\n").length));
    const button = (textContent, act) =>
      element("button", { type: "button", textContent, onclick: act });
    const set = element("fieldset", { className: "playground-tensor" }, element("legend"),
      element("label", {}, "shape ", field("input", "shape", x.shape)),
      element("label", {}, "precision ", field("input", "precision", x.precision)),
      element("label", { className: "playground-data" }, "values ", data),
      button("1, 2, 3", () => fill(set, (k, a) => (a ? 1 + (k % a) : 0))),
      button("random", () => fill(set, (_, a) => Math.floor(Math.random() * (2 * a + 1)) - a)),
      button("remove", () => { set.remove(); changed(); }),
      element("p", { className: "playground-error" }));
    return set;
  }

  const tensorFields = () => [...$("inputs").children];

  function nameInputs(op) {
    tensorFields().forEach((set, k) => {
      const port = op.inputs[Math.min(k, op.inputs.length - 1)];
      const more = k >= op.inputs.length || port.arity === "variadic";
      set.querySelector("legend").textContent = `Input ${k}: ${port.name}${more ? `[${k}]` : ""}`;
    });
  }

  function showCall(call) {
    showOperator(operatorOf(call.op));
    for (const [name, text] of Object.entries(call.attrs)) {
      const about = operatorOf(call.op).attributes.find((a) => a.name === name);
      const input = $(`attribute-${name}`);
      if (about.default !== text) input.value = text;
    }
    $("inputs").replaceChildren(...call.inputs.map(tensorField));
  }

  function readCall() {
    const attrs = {};
    for (const input of $("attributes").querySelectorAll("input"))
      if (input.value.trim()) attrs[input.name] = input.value.trim();
    const inputs = tensorFields().map((set) => Object.fromEntries(
      [...set.elements].filter((e) => e.name).map((e) => [e.name, e.value.trim()])));
    return { op: $("operator").value, attrs, inputs };
  }

  // What the form itself can see to be wrong with an input; the reference judges the rest.
  function mistake({ shape, precision, data }) {
    const extents = extentsOf(shape), values = valuesOf(data);
    const wrong = extents.find((e) => !isInteger(e));
    if (wrong !== undefined) return ["shape", `'${wrong}' is no extent; a shape is written 2x3`];
    if (!isInteger(precision)) return ["precision", "a precision is an integer, 1 to 32"];
    const odd = values.find((v) => !isInteger(v));
    if (odd !== undefined) return ["data", `'${odd}' is no integer`];
    if (values.length > MOST_VALUES)
      return ["data", `the page takes up to ${MOST_VALUES} values, and these are ${values.length}`];
    const needed = extents.reduce((n, e) => n * BigInt(e), 1n);
    const whole = extents.every((e) => BigInt(e) > 0n);
    const shown = extents.join("x");
    if (whole && values.length && BigInt(values.length) !== needed)
      return ["data", `${shown} needs ${needed} values, and these are ${values.length}`];
    return undefined;
  }

  function fill(set, valueOf) {
    const [shape, precision, data] = ["shape", "precision", "data"].map((n) => set.elements[n]);
    data.value = "";
    const wrong = mistake({ shape: shape.value, precision: precision.value.trim(), data: "" });
    const extents = extentsOf(shape.value).map(Number);
    const size = extents.reduce((n, e) => n * e, 1);
    const most = 2 ** (Number(precision.value) - 1) - 1;
    if (!wrong && size > MOST_VALUES) return complain(set, "shape",
      `the page takes up to ${MOST_VALUES} values, and this shape has ${size}`);
    if (!wrong && size > 0 && most >= 0 && most < 2 ** 31)
      data.value = rows(extents, Array.from({ length: size }, (_, k) => valueOf(k, most)));
    return changed();
  }

  function complain(set, name, text) {
    set.elements[name].setAttribute("aria-invalid", "true");
    if (text) set.querySelector(".playground-error").textContent = text;
  }

  function clearComplaints() {
    for (const field of $("form").querySelectorAll("[aria-invalid]"))
      field.removeAttribute("aria-invalid");
    for (const text of $("form").querySelectorAll(".playground-error")) text.textContent = "";
  }

  // ---- the answer -------------------------------------------------------------------------------

  function lineOf(call) {
    const inputs = call.inputs.map(({ shape, data }) => {
      const values = integers(valuesOf(data));
      return `{"shape":[${integers(extentsOf(shape))}]${values && `,"data":[${values}]`}}`;
    });
    const precisions = integers(call.inputs.map((x) => x.precision));
    return `{"id":1,"op":${JSON.stringify(call.op)},"attrs":${JSON.stringify(call.attrs)},` +
      `"in_prec":[${precisions}],"in":[${inputs.join(",")}]}`;
  }

  function paragraph(...children) {
    return element("p", {}, ...children);
  }

  function refused({ label, message }) {
    const { page, text } = labels[label] ?? {};
    const name = element("code", { textContent: label });
    return [
      paragraph(element("strong", { textContent: "Refused: " }),
        page ? element("a", { href: page }, name) : name),
      paragraph(message),
      ...(text && !message.includes(text) ? [paragraph(`The rule: ${text}.`)] : []),
    ];
  }

  function outputs(op, types, out) {
    return types.flatMap(({ shape, prec }, k) => [
      paragraph(element("strong", { textContent: op.outputs[k] }), ` ${typeText(shape, prec)}`),
      ...(out ? [element("pre", { textContent: rows(shape, out[k].data), tabIndex: 0 })] : []),
    ]);
  }

  function legal(op, { answer, types, gas, case: id }) {
    const price = gas === null ? "above the limit" : String(gas);
    const shown = outputs(op, types, answer.out);
    shown.push(paragraph(`Gas as a model of one call: ${price}.`));
    if (answer.status !== "ok") shown.push(paragraph(`Without values: ${answer.message}.`));
    if (id) {
      const command = { textContent: `lockstep repro reference '${id}'`, tabIndex: 0 };
      shown.push(paragraph("The program repeats the call:"),
        element("pre", { ...command, className: "playground-command" }));
    }
    return shown;
  }

  // Marks the attribute or the input that a message is about.
  function point({ label, message }) {
    const [, attribute] = /attribute '(\w+)'/.exec(message) ?? [];
    const [, input] = /\binput (\d+)/.exec(message) ?? [];
    if (label.startsWith("attr."))
      $(`attribute-${attribute}`)?.setAttribute("aria-invalid", "true");
    const part = { "input.precision": "precision", "input.value": "data" }[label] ?? "shape";
    const set = tensorFields()[input];
    if (label.startsWith("input.") && set) complain(set, part);
  }

  function changed() {
    const call = readCall(), op = operatorOf(call.op);
    nameInputs(op);
    clearComplaints();
    const link = linkOf(call);
    if (location.hash !== `#${link}`) history.replaceState(null, "", `#${link}`);
    $("link").href = `#${link}`;
    $("example").value = op.examples.some((e) => e.link === link) ? link : "";
    const mistakes = call.inputs.flatMap((x, k) => {
      const wrong = mistake(x);
      if (wrong) complain(tensorFields()[k], ...wrong);
      return wrong ? [paragraph(`No result. Input ${k}: ${wrong[1]}.`)] : [];
    });
    if (mistakes.length) {
      $("result").replaceChildren(...mistakes);
      return;
    }
    const result = page.module.answer(lineOf(call));
    const answer = result.answer ?? { label: "", message: result.error };
    if (result.types) {
      $("result").replaceChildren(...legal(op, result));
    } else if (answer.status === "logic_error") {
      $("result").replaceChildren(...refused(answer));
      point(answer);
    } else {
      $("result").replaceChildren(paragraph(`No result: ${answer.message}.`));
    }
  }

  function open(link) {
    try {
      showCall(callOf(link, page.module));
    } catch (error) {
      $("result").replaceChildren(paragraph(`The link holds no call: ${error.message}.`));
      return;
    }
    changed();
  }

  // ---- the digest -------------------------------------------------------------------------------

  function loadVectors() {
    return new Promise((done, failed) => {
      const script = element("script", { src: "_static/playground/vectors.js" });
      script.onload = () => done(lockstepVectors);
      script.onerror = () => failed(new Error("the golden vectors are not beside this page"));
      document.head.append(script);
    });
  }

  async function computeDigest() {
    $("compute").disabled = true;
    try {
      page.directory ??= page.module.store(await loadVectors());
      for (;;) {
        const step = page.module.digest(page.directory, 200);
        if (step.error) throw new Error(step.error);
        if (step.digest) {
          const verdict = step.digest === digest ? "equal to" : "NOT EQUAL TO";
          $("digest").textContent = `${step.digest}\n${verdict} the program's`;
          break;
        }
        $("digest").textContent = `${step.done} of ${step.all} cases`;
        await new Promise((done) => setTimeout(done));
      }
    } catch (error) {
      $("digest").textContent = `no digest: ${error.message}`;
    }
    $("compute").disabled = false;
  }

  // ---- the start --------------------------------------------------------------------------------

  const page = { module: undefined, directory: undefined };

  // The functions of module.cc with their texts read.
  function wrapped(module) {
    const call = (name, types) => (...texts) =>
      JSON.parse(module.ccall(`lockstep_${name}`, "string", types, texts));
    return {
      answer: call("answer", ["string"]),
      call: call("call", ["string"]),
      digest: call("digest", ["string", "number"]),
      store(files) {
        module.FS.mkdir("/vectors");
        for (const [name, text] of Object.entries(files))
          module.FS.writeFile(`/vectors/${name}`, text);
        return "/vectors";
      },
    };
  }

  function start(module) {
    page.module = wrapped(module);
    const groups = new Map();
    for (const { name, profile } of operators) {
      if (!groups.has(profile)) groups.set(profile, element("optgroup", { label: profile }));
      groups.get(profile).append(element("option", { value: name, textContent: name }));
    }
    $("operator").replaceChildren(...groups.values());
    const openExample = (op) => open(op.examples[0].link);
    $("operator").onchange = () => openExample(operatorOf($("operator").value));
    $("example").onchange = () => $("example").value && open($("example").value);
    $("add").onclick = () => {
      $("inputs").append(tensorField({ shape: "1", precision: "8", data: "1" }));
      changed();
    };
    $("attributes").oninput = $("inputs").oninput = changed;
    $("form").onsubmit = (event) => event.preventDefault();
    $("compute").onclick = computeDigest;
    window.addEventListener("hashchange", () => open(location.hash.slice(1)));
    $("form").hidden = $("compute").disabled = false;
    if (location.hash.length > 1) showOperator(operators[0]), open(location.hash.slice(1));
    else openExample(operators[0]);
    $("state").textContent = "";
  }

  if (typeof lockstepModule === "undefined") {
    $("state").textContent =
      "This copy of the site was built without emscripten, so nothing is computed here.";
  } else {
    lockstepModule().then(start, (error) => {
      $("state").textContent = `This browser does not run the module: ${error.message}`;
    });
  }
})();
