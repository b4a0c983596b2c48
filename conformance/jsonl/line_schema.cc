#include "conformance/jsonl/lines.h"

namespace lockstep::judge {
namespace {

constexpr char kLineSchema[] = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "A line of lockstep eval: a call, or the answer to one",
  "description": "One line, one JSON object. An integer is written without fraction and exponent.",
  "oneOf": [{"$ref": "#/$defs/request"}, {"$ref": "#/$defs/answer"},
            {"$ref": "#/$defs/introduction"}],
  "$defs": {
    "request": {
      "type": "object",
      "required": ["id", "op", "attrs", "in_prec", "in"],
      "additionalProperties": false,
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "op": {"type": "string",
               "description": "an operator's name or alias; 'manifest' asks for one"},
        "attrs": {
          "type": "object",
          "description": "attributes by name or alias; their values are text",
          "additionalProperties": {"type": "string"}
        },
        "in_prec": {"description": "the precision of each input", "$ref": "#/$defs/integers"},
        "in": {"type": "array", "items": {"$ref": "#/$defs/input"}}
      }
    },
    "answer": {
      "type": "object",
      "required": ["id", "status"],
      "oneOf": [
        {
          "required": ["out"],
          "additionalProperties": false,
          "properties": {
            "id": {"$ref": "#/$defs/id"},
            "status": {"const": "ok"},
            "out": {"type": "array", "items": {"$ref": "#/$defs/output"}},
            "path": {"type": "string", "description": "the kernel of the manifest that ran"}
          }
        },
        {
          "required": ["label"],
          "additionalProperties": false,
          "properties": {
            "id": {"$ref": "#/$defs/id"},
            "status": {"const": "logic_error"},
            "label": {"$ref": "#/$defs/label"},
            "message": {"type": "string"}
          }
        },
        {
          "additionalProperties": false,
          "properties": {
            "id": {"$ref": "#/$defs/id"},
            "status": {"enum": ["runtime_error", "unsupported"]},
            "label": {"$ref": "#/$defs/label"},
            "message": {"type": "string"}
          }
        }
      ]
    },
    "introduction": {
      "type": "object",
      "description": "the answer to the call of 'manifest'; any other answer is no manifest",
      "required": ["id", "manifest"],
      "additionalProperties": false,
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "manifest": {"type": "object", "description": "as that of a library (backends/README.md)"}
      }
    },
    "id": {"type": ["string", "number", "boolean", "null"],
           "description": "comes back in the answer as it was written"},
    "label": {"type": "string", "description": "the word of the violated rule, as conv2d.window"},
    "input": {
      "type": "object",
      "required": ["shape"],
      "additionalProperties": false,
      "properties": {
        "shape": {"$ref": "#/$defs/integers"},
        "data": {"$ref": "#/$defs/integers"},
        "b64": {"$ref": "#/$defs/b64"}
      },
      "description": "without data and b64 it is all zeros",
      "not": {"required": ["data", "b64"]}
    },
    "output": {
      "type": "object",
      "required": ["shape"],
      "additionalProperties": false,
      "properties": {
        "shape": {"$ref": "#/$defs/integers"},
        "prec": {"type": "integer",
                 "description": "it is judged where it is given; 0 is the same as none"},
        "data": {"$ref": "#/$defs/integers"},
        "b64": {"$ref": "#/$defs/b64"}
      },
      "oneOf": [{"required": ["data"]}, {"required": ["b64"]}]
    },
    "integers": {"type": "array", "items": {"type": "integer"}},
    "b64": {"type": "string", "contentEncoding": "base64",
            "description": "little-endian int32, row-major"}
  }
})json";

}  // namespace

std::string line_schema() { return kLineSchema; }

}  // namespace lockstep::judge
