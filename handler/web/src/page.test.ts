import { AxiosError, AxiosHeaders, type AxiosResponse } from "axios";
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { baseOf, problemOf } from "./api";
import { asCurl, percent, times } from "./formats";
import { parse } from "./pinyin";
import { HISTORY_LENGTH, readHistory, readLanguage, remembered, writeHistory, writeLanguage } from "./store";
import { sayer } from "./strings";
import { parts, splice } from "./text";

function refused(status: number, data: unknown): AxiosError {
  const config = { headers: new AxiosHeaders() };
  const response: AxiosResponse = { status, data, statusText: "", headers: {}, config };
  return new AxiosError("refused", AxiosError.ERR_BAD_REQUEST, config, null, response);
}

describe("problems", () => {
  it("take the service's own words", () => {
    const error = refused(422, { error: { type: "mask_missing", message: "没有空", request_id: "r1" } });
    expect(problemOf(error, true)).toEqual({ kind: "invalid", status: 422, message: "没有空", requestId: "r1" });
  });

  it.each([
    [429, { message: "Too Many Requests" }, "throttled"],
    [413, { message: "Request Too Long" }, "too-large"],
    [503, "<html>", "unavailable"],
    [504, { message: "Endpoint request timed out" }, "unavailable"],
    [500, null, "failed"],
    [403, { error: "no" }, "failed"],
  ])("of a gateway with %i need no body of ours", (status, data, kind) => {
    expect(problemOf(refused(status, data), true)).toEqual({ kind, status });
  });

  it("tell no network from no service", () => {
    const error = new AxiosError("Network Error", AxiosError.ERR_NETWORK);
    expect(problemOf(error, false).kind).toBe("offline");
    expect(problemOf(error, true).kind).toBe("unreachable");
    expect(problemOf(new TypeError("x"), true).kind).toBe("failed");
  });
});

describe("the page's own address", () => {
  it.each(["https://a.example/", "https://a.example/prod/", "https://a.example/nlp/v2/"])("is %s", (base) => {
    expect(baseOf(`${base}assets/index-abc.js`)).toBe(base);
  });
});

describe("texts", () => {
  it("are cut by code points", () => {
    expect(parts("𠮷径吃", [{ start: 1, end: 2, text: "经" }])).toEqual([
      { text: "𠮷" },
      { text: "经", at: 0, original: "径" },
      { text: "吃" },
    ]);
    expect(splice("𠮷径吃", 1, 2, "经")).toBe("𠮷经吃");
  });
});

describe("formats", () => {
  it("quote for a shell", () => {
    expect(asCurl("http://h/v1", { text: "it's $HOME `x` [MASK]" })).toBe(
      `curl -sS 'http://h/v1' -H 'Content-Type: application/json' -d '{"text":"it'\\''s $HOME \`x\` [MASK]"}'`,
    );
  });

  it.each([
    [0, "0%"],
    [0.00001, "<0.01%"],
    [0.0042, "0.42%"],
    [0.17941, "17.9%"],
    [0.9999, "100%"],
  ])("write %d as %s", (score, text) => {
    expect(percent(score)).toBe(text);
  });

  it("turn a margin into a factor", () => {
    expect([times(0.7), times(4), times(12)]).toEqual(["2.0", "55", "1000+"]);
  });
});

describe("memory", () => {
  beforeEach(() => {
    localStorage.clear();
  });

  it("holds each sentence once, the newest first, and not too many", () => {
    let history = readHistory();
    for (let n = 0; n < HISTORY_LENGTH + 5; n += 1) history = remembered(history, { task: "fill", text: `第${n}` });
    history = remembered(history, { task: "fill", text: "第20" });
    writeHistory(history);
    expect(readHistory()).toHaveLength(HISTORY_LENGTH);
    expect(readHistory()[0]).toEqual({ task: "fill", text: "第20" });
    expect(readHistory().filter((each) => each.text === "第20")).toHaveLength(1);
  });

  it.each(["{", '"x"', '[{"task":"x","text":"y"},{"task":"fill"},null]'])("survives %s", (stored) => {
    localStorage.setItem("tiankong.history", stored);
    expect(readHistory()).toEqual([]);
  });

  it("is Chinese until told otherwise", () => {
    expect(readLanguage()).toBe("zh");
    writeLanguage("en");
    expect(readLanguage()).toBe("en");
  });
});

describe("words", () => {
  it("carry their facts in both languages", () => {
    const facts = { limit: 16, actual: 17 };
    for (const language of ["zh", "en"] as const) {
      expect(sayer(language)("check.too-many", facts)).toMatch(/16.*17/);
    }
  });
});

describe("readings", () => {
  it("are those of the table", () => {
    const readings = parse(readFileSync("src/pinyin.txt", "utf8"));
    expect(readings.size).toBeGreaterThan(7000);
    expect(["光", "一", "龙", "绿", "我"].map((each) => readings.get(each))).toEqual(["guāng", "yī", "lóng", "lǜ", "wǒ"]);
  });
});
