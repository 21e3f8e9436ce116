import { useEffect, useRef, useState } from "react";
import type { CorrectedText } from "./api";
import type { Opened } from "./App";
import { Editor } from "./Editor";
import { times } from "./formats";
import { type Fault, faultOf, lengthOf } from "./masks";
import { Details, State } from "./State";
import { type TaskProps, answerOf, useTask } from "./task";
import { parts, splice } from "./text";

export function Correct(props: TaskProps & { opened: Opened }) {
  const { service, say, limits, opened, onSaid } = props;
  const [text, setText] = useState("");
  const [fault, setFault] = useState<Fault | null>(null);
  const area = useRef<HTMLTextAreaElement | null>(null);
  const sentence = useRef<HTMLParagraphElement | null>(null);
  const { phase, latest } = useTask<CorrectedText>("correct", props, (question, language, signal) =>
    service.correct(question.text, language, signal),
  );
  const timed = answerOf(phase);

  useEffect(() => {
    if (opened.times > 0) start(opened.text);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [opened]);

  useEffect(() => {
    if (phase.kind !== "answered") return;
    const count = phase.answer.result.corrections.length;
    onSaid(count === 0 ? say("nothing-wrong") : say("said.correct", { count }));
  }, [phase, say, onSaid]);

  function start(next: string) {
    setText(next);
    const found = faultOf(next, false, limits);
    setFault(found);
    if (found === null) void latest.now({ text: next, topK: 0, wanted: true });
    else latest.clear();
  }

  function onText(next: string, composing: boolean) {
    setText(next);
    if (composing) {
      latest.cancel();
      return;
    }
    const found = faultOf(next, false, limits);
    setFault(found?.kind === "empty" ? null : found);
    if (found === null) latest.later({ text: next, topK: 0, wanted: false });
    else latest.clear();
  }

  function adopt(next: string) {
    if (timed === undefined || timed.result.text !== text) return; // the text has moved on
    start(next);
    requestAnimationFrame(() => sentence.current?.focus());
  }

  return (
    <>
      <Editor
        say={say}
        label={say("correct.label")}
        help={say("correct.help")}
        placeholder={say("correct.placeholder")}
        submit={say("submit.correct")}
        text={text}
        facts={say("characters", { count: lengthOf(text) })}
        area={area}
        fault={fault !== null && say(`check.${fault.kind}`, { ...fault })}
        onText={onText}
        onSubmit={() => start(text)}
      />
      <section className="results" aria-label={say("results")} aria-busy={phase.kind === "waiting"}>
        <State
          say={say}
          phase={phase}
          empty={say("empty.correct")}
          onRetry={(question) => void latest.now({ ...question, wanted: true })}
        />
        {timed !== undefined && (
          <div className={phase.kind === "waiting" ? "stale" : undefined}>
            <div className="sentence">
              <h2>{say("corrected")}</h2>
              <p ref={sentence} tabIndex={-1} lang="zh-CN">
                <Marked say={say} result={timed.result} />
              </p>
            </div>
            {timed.result.corrections.length === 0 ? (
              <p className="done">{say("nothing-wrong")}</p>
            ) : (
              <Suggestions say={say} result={timed.result} onAdopt={adopt} />
            )}
            <Details
              say={say}
              timed={timed}
              onSaid={onSaid}
              address={service.address("v1/correct")}
              body={{ text: timed.result.text }}
              text={timed.result.corrected}
            />
          </div>
        )}
      </section>
    </>
  );
}

type Say = TaskProps["say"];

/** The sentence with each wrong character struck out beside the better one. */
function Marked({ say, result }: { say: Say; result: CorrectedText }) {
  const spans = result.corrections.map(({ start, end, original, suggestions }) => ({
    start,
    end,
    text: suggestions[0]?.token ?? original,
  }));
  return parts(result.text, spans).map((part, key) =>
    part.at === undefined ? (
      <span key={key}>{part.text}</span>
    ) : (
      <span key={key} className="change" title={say("was", { original: part.original ?? "" })}>
        <del>{part.original}</del>
        <ins>{part.text}</ins>
      </span>
    ),
  );
}

interface SuggestionsProps {
  say: Say;
  result: CorrectedText;
  onAdopt: (text: string) => void;
}

function Suggestions({ say, result, onAdopt }: SuggestionsProps) {
  return (
    <section aria-labelledby="suggestions">
      <div className="heading">
        <h3 id="suggestions">{say("corrections")}</h3>
        <button type="button" onClick={() => onAdopt(result.corrected)}>
          {say("adopt.all")}
        </button>
      </div>
      <ol className="corrections">
        {result.corrections.map((found) => (
          <li key={found.start}>
            <span className="place">{say("place", { number: found.start + 1 })}</span>
            <del lang="zh-CN">{found.original}</del>
            <ul>
              {found.suggestions.map(({ token, margin }) => (
                <li key={token}>
                  <button
                    type="button"
                    onClick={() => onAdopt(splice(result.text, found.start, found.end, token))}
                  >
                    <span className="unseen">{say("adopt", { original: found.original })}</span>
                    <span className="token" lang="zh-CN">
                      {token}
                    </span>
                    <span className="share">{say("times", { times: times(margin) })}</span>
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}
