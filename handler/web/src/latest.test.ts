import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Latest, PAUSE_MS, type Phase, SLOW_MS } from "./latest";

interface Asked {
  question: string;
  signal: AbortSignal;
  answer: (text: string) => void;
  fail: (error: Error) => void;
}

function harness() {
  const asked: Asked[] = [];
  const shown: Phase<string, string, string>[] = [];
  const latest = new Latest<string, string, string>(
    (question, signal) =>
      new Promise((answer, fail) => {
        asked.push({ question, signal, answer, fail });
      }),
    (error) => (error as Error).message,
    (phase) => shown.push(phase),
  );
  return { asked, shown, latest };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("Latest", () => {
  it("asks once, after the pause, what was typed last", () => {
    const { asked, latest } = harness();
    latest.later("一");
    vi.advanceTimersByTime(PAUSE_MS - 1);
    latest.later("二");
    vi.advanceTimersByTime(PAUSE_MS - 1);
    expect(asked).toHaveLength(0);
    vi.advanceTimersByTime(1);
    expect(asked.map((each) => each.question)).toEqual(["二"]);
  });

  it("asks at once when told so, and not again after the pause", () => {
    const { asked, latest } = harness();
    latest.later("一");
    void latest.now("一");
    vi.advanceTimersByTime(PAUSE_MS * 2);
    expect(asked).toHaveLength(1);
  });

  it("cancels what is overtaken and never shows its answer", async () => {
    const { asked, shown, latest } = harness();
    void latest.now("一");
    void latest.now("二");
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[1]?.answer("新");
    asked[0]?.answer("旧");
    await vi.runAllTimersAsync();
    expect(shown.at(-1)).toEqual({ kind: "answered", question: "二", answer: "新" });
    expect(JSON.stringify(shown)).not.toContain("旧");
  });

  it("cancels what runs as soon as something else is typed", () => {
    const { asked, latest } = harness();
    void latest.now("一");
    latest.later("二");
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it("says when it takes long", () => {
    const { shown, latest } = harness();
    void latest.now("一");
    expect(shown.at(-1)).toMatchObject({ kind: "waiting", slow: false });
    vi.advanceTimersByTime(SLOW_MS);
    expect(shown.at(-1)).toMatchObject({ kind: "waiting", slow: true });
  });

  it("keeps the last answer in sight while the next is on its way, and after a failure lets it go", async () => {
    const { asked, shown, latest } = harness();
    void latest.now("一");
    asked[0]?.answer("答");
    await vi.advanceTimersByTimeAsync(0);
    void latest.now("二");
    expect(shown.at(-1)).toMatchObject({ kind: "waiting", previous: "答" });
    asked[1]?.fail(new Error("坏"));
    await vi.advanceTimersByTimeAsync(0);
    expect(shown.at(-1)).toEqual({ kind: "failed", question: "二", failure: "坏" });
  });
});
