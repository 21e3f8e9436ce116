import type { Problem, Timed } from "./api";
import { asCurl, asJson, copy, milliseconds } from "./formats";
import type { Say } from "./strings";
import type { Question, TaskPhase } from "./task";

interface Props<Result> {
  say: Say;
  phase: TaskPhase<Result>;
  empty: string | null;
  onRetry: (question: Question) => void;
}

/** What is going on where there is no answer: nothing yet, waiting, or trouble and what to do. */
export function State<Result>({ say, phase, empty, onRetry }: Props<Result>) {
  if (phase.kind === "idle") return empty === null ? null : <p className="empty">{empty}</p>;
  if (phase.kind === "waiting") {
    return (
      <p className="waiting">
        <span className="spin" aria-hidden="true" />
        {phase.slow ? say("waiting.slow") : say("waiting")}
      </p>
    );
  }
  if (phase.kind === "answered") return null;
  return <Trouble say={say} problem={phase.failure} onRetry={() => onRetry(phase.question)} />;
}

function Trouble({ say, problem, onRetry }: { say: Say; problem: Problem; onRetry: () => void }) {
  return (
    <div className="problem" role="alert">
      <p>
        <b>{say(`problem.${problem.kind}`)}</b> {problem.message}
      </p>
      <p>{say(`problem.${problem.kind}.do`)}</p>
      {problem.requestId !== undefined && (
        <p className="id">
          {say("problem.id")} <code>{problem.requestId}</code>
        </p>
      )}
      <button type="button" onClick={onRetry}>
        {say("retry")}
      </button>
    </div>
  );
}

interface Facts {
  truncated?: boolean;
  unknown_characters: number;
  cached: boolean;
}

interface DetailsProps {
  say: Say;
  timed: Timed<Facts>;
  address: string;
  body: object;
  text: string;
  onSaid: (text: string) => void;
}

/** Where the answer came from, how long it took, and copies of it to take away. */
export function Details({ say, timed, address, body, text, onSaid }: DetailsProps) {
  const { result, answer, roundTripMs } = timed;
  const take = (what: string) => async () => onSaid(say((await copy(what)) ? "copied" : "copy.failed"));
  return (
    <div className="details">
      {result.truncated === true && <p>{say("truncated")}</p>}
      {result.unknown_characters > 0 && <p>{say("unknown", { count: result.unknown_characters })}</p>}
      <ul className="times">
        <li className={result.cached ? "cached" : undefined}>{say(result.cached ? "cached" : "not-cached")}</li>
        <li>{say("time.total", { time: milliseconds(answer.timing_ms.total) })}</li>
        {!result.cached && <li>{say("time.run", { time: milliseconds(answer.timing_ms.run) })}</li>}
        <li>{say("time.trip", { time: milliseconds(roundTripMs) })}</li>
      </ul>
      <div className="copies">
        <button type="button" className="quiet" onClick={take(text)}>
          {say("copy.text")}
        </button>
        <button type="button" className="quiet" onClick={take(asJson(answer))}>
          {say("copy.json")}
        </button>
        <button type="button" className="quiet" onClick={take(asCurl(address, body))}>
          {say("copy.curl")}
        </button>
      </div>
    </div>
  );
}
