import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS, faultOf, findMasks, insertMask, mend } from "./masks";

describe("blanks", () => {
  it.each(["[MASK]", "[mask]", "［ＭＡＳＫ］", "【MASK】", "[ MASK ]", "<mask>", "【ｍａｓｋ】"])("knows %s", (form) => {
    expect(findMasks(`今天${form}好`)).toEqual([{ start: 2, end: 2 + form.length }]);
  });

  it.each(["[MAKS]", "MASK", "____", "□", "（ ）", "(mask)", "{MASK}", "[M A S K]"])("says that %s is none", (form) => {
    const text = `今天${form}好`;
    expect(faultOf(text, true, DEFAULT_LIMITS)).toEqual({ kind: "misspelt" });
    expect(mend(text)).toBe("今天[MASK]好");
  });

  it("leaves a text with a blank alone", () => {
    expect(mend("____[MASK]")).toBe("____[MASK]");
  });

  it("goes where the selection is", () => {
    expect(insertMask("今天好", 1, 2)).toEqual({ text: "今[MASK]好", caret: 7 });
  });
});

describe("checks before sending", () => {
  const limits = { ...DEFAULT_LIMITS, max_text_chars: 20, max_masks: 2 };

  it.each([
    ["  \n", { kind: "empty" }],
    ["今天好", { kind: "no-mask" }],
    ["[MASK][MASK][MASK]", { kind: "too-many", limit: 2, actual: 3 }],
    ["𠮷".repeat(21), { kind: "too-long", limit: 20, actual: 21 }],
    ["很[MASK]", null],
    [`${"𠮷".repeat(14)}[MASK]`, null],
  ])("judge %j", (text, fault) => {
    expect(faultOf(text, true, limits)).toEqual(fault);
  });

  it("ask for no blank where characters are corrected", () => {
    expect(faultOf("今天好", false, limits)).toBeNull();
  });
});
