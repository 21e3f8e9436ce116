/** What both tasks share: asking the latest question, retrying it, and remembering what was answered. */

import { useEffect, useMemo, useRef, useState } from "react";
import { type Problem, type Service, type Timed, problemOf } from "./api";
import { Latest, type Phase } from "./latest";
import type { Limits } from "./masks";
import type { Past, Task } from "./store";
import type { Language, Say } from "./strings";

export interface TaskProps {
  service: Service;
  language: Language;
  say: Say;
  limits: Limits;
  onSaid: (text: string) => void;
  onAnswered: (entry: Past) => void;
}

export interface Question {
  text: string;
  topK: number;
  /** Asked for with a key or a button, and not by a pause in typing. */
  wanted: boolean;
}

export type TaskPhase<Result> = Phase<Question, Timed<Result>, Problem>;

// An answer to a pause in typing is a thought in passing until it has stood this long.
const PASSING_MS = 2000;

export function useTask<Result>(
  task: Task,
  props: TaskProps,
  ask: (question: Question, language: string, signal: AbortSignal) => Promise<Timed<Result>>,
) {
  const [phase, setPhase] = useState<TaskPhase<Result>>({ kind: "idle" });
  const current = useRef({ ask, props });
  current.current = { ask, props };
  const latest = useMemo(
    () =>
      new Latest<Question, Timed<Result>, Problem>(
        (question, signal) => {
          const language = current.current.props.language === "zh" ? "zh-CN" : "en";
          return current.current.ask(question, language, signal);
        },
        (error) => problemOf(error, navigator.onLine),
        setPhase,
      ),
    [],
  );

  useEffect(() => () => latest.cancel(), [latest]);

  useEffect(() => {
    if (phase.kind !== "answered") return;
    const { text, wanted } = phase.question;
    const timer = setTimeout(() => current.current.props.onAnswered({ task, text }), wanted ? 0 : PASSING_MS);
    return () => clearTimeout(timer);
  }, [phase, task]);

  useEffect(() => {
    if (phase.kind !== "failed" || phase.failure.kind !== "offline") return;
    const again = () => void latest.now(phase.question);
    window.addEventListener("online", again);
    return () => window.removeEventListener("online", again);
  }, [phase, latest]);

  return { phase, latest };
}

/** The answer to show: the one that stands, or the last one while the next is on its way. */
export function answerOf<Result>(phase: TaskPhase<Result>): Timed<Result> | undefined {
  if (phase.kind === "answered") return phase.answer;
  return phase.kind === "waiting" ? phase.previous : undefined;
}
