/** Only the latest question counts: one that is overtaken is cancelled, and its answer never shown. */

export type Phase<Question, Answer, Failure> =
  | { kind: "idle" }
  | { kind: "waiting"; question: Question; slow: boolean; previous?: Answer | undefined }
  | { kind: "answered"; question: Question; answer: Answer }
  | { kind: "failed"; question: Question; failure: Failure };

export const PAUSE_MS = 400;
export const SLOW_MS = 1200;

type Timer = ReturnType<typeof setTimeout>;

export class Latest<Question, Answer, Failure> {
  private pause: Timer | undefined;
  private slow: Timer | undefined;
  private running: AbortController | undefined;
  private phase: Phase<Question, Answer, Failure> = { kind: "idle" };

  constructor(
    private readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer>,
    private readonly failureOf: (error: unknown) => Failure,
    private readonly show: (phase: Phase<Question, Answer, Failure>) => void,
  ) {}

  /** Ask when nothing else comes within the pause. What runs already is overtaken at once. */
  later(question: Question): void {
    this.cancel();
    this.pause = setTimeout(() => void this.now(question), PAUSE_MS);
  }

  async now(question: Question): Promise<void> {
    this.cancel();
    const running = new AbortController();
    this.running = running;
    const previous = this.previous();
    this.set({ kind: "waiting", question, slow: false, previous });
    this.slow = setTimeout(() => this.set({ kind: "waiting", question, slow: true, previous }), SLOW_MS);
    try {
      const answer = await this.ask(question, running.signal);
      if (this.running === running) this.finish({ kind: "answered", question, answer });
    } catch (error) {
      if (this.running === running) this.finish({ kind: "failed", question, failure: this.failureOf(error) });
    }
  }

  /** Forget the question that waits or runs; an answer that stands stays. */
  cancel(): void {
    clearTimeout(this.pause);
    clearTimeout(this.slow);
    this.running?.abort();
    this.running = undefined;
    if (this.phase.kind === "waiting") {
      const { question, previous } = this.phase;
      this.set(previous === undefined ? { kind: "idle" } : { kind: "answered", question, answer: previous });
    }
  }

  /** Forget everything. */
  clear(): void {
    this.cancel();
    this.set({ kind: "idle" });
  }

  private finish(phase: Phase<Question, Answer, Failure>): void {
    clearTimeout(this.slow);
    this.running = undefined;
    this.set(phase);
  }

  private previous(): Answer | undefined {
    if (this.phase.kind === "answered") return this.phase.answer;
    return this.phase.kind === "waiting" ? this.phase.previous : undefined;
  }

  private set(phase: Phase<Question, Answer, Failure>): void {
    this.phase = phase;
    this.show(phase);
  }
}
