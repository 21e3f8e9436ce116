/** Sentences to begin with, by kind. */

import type { Past } from "./store";
import type { Key } from "./strings";

export const EXAMPLES: readonly { kind: Key; entries: readonly Past[] }[] = [
  { kind: "example.idiom", entries: [fill("守株[MASK][MASK]"), fill("亡羊[MASK]牢"), fill("画蛇[MASK][MASK]")] },
  {
    kind: "example.poem",
    entries: [fill("床前明月[MASK]，疑是地上霜。"), fill("海上生明月，天涯共此[MASK]。")],
  },
  { kind: "example.sense", entries: [fill("中国的首都是北[MASK]。"), fill("今天天气很[MASK]。")] },
  { kind: "example.measure", entries: [fill("他买了一[MASK]书。"), fill("桌上放着一[MASK]报纸。")] },
  { kind: "example.wrong", entries: [correct("我已径吃过饭了。"), correct("他再家里看书。")] },
];

function fill(text: string): Past {
  return { task: "fill", text };
}

function correct(text: string): Past {
  return { task: "correct", text };
}
