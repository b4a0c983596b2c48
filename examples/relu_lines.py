"""A backend in another language: relu, in the JSON Lines protocol.

lockstep check "exec:python3 examples/relu_lines.py" --op relu --property matches_reference
"""

import json
import sys

for line in sys.stdin:
    call = json.loads(line)
    answer = {"id": call["id"], "status": "unsupported", "message": "only relu"}
    if call["op"] == "relu":
        (x,) = call["in"]
        (precision,) = call["in_prec"]
        y = {"shape": x["shape"], "prec": precision, "data": [max(v, 0) for v in x["data"]]}
        answer = {"id": call["id"], "status": "ok", "out": [y]}
    print(json.dumps(answer), flush=True)
