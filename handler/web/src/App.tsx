import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import type { About, Service } from "./api";
import { Correct } from "./Correct";
import { Fill } from "./Fill";
import { DEFAULT_LIMITS } from "./masks";
import { Examples, History } from "./Sidebar";
import { type Past, type Task, readHistory, readLanguage, remembered, writeHistory, writeLanguage } from "./store";
import { type Language, sayer } from "./strings";

const TASKS: readonly Task[] = ["fill", "correct"];

/** A sentence handed to a task from outside of it: an example, or one of the past. */
export interface Opened {
  text: string;
  times: number;
}

export function App({ service }: { service: Service }) {
  const [language, setLanguage] = useState<Language>(readLanguage);
  const [task, setTask] = useState<Task>("fill");
  const [history, setHistory] = useState<Past[]>(readHistory);
  const [opened, setOpened] = useState<Record<Task, Opened>>({
    fill: { text: "", times: 0 },
    correct: { text: "", times: 0 },
  });
  const [about, setAbout] = useState<About | null>(null);
  const [said, setSaid] = useState("");
  const say = useMemo(() => sayer(language), [language]);
  const tabs = useRef<Partial<Record<Task, HTMLButtonElement | null>>>({});

  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
    document.title = language === "zh" ? "填空 Tiankong" : "Tiankong 填空";
  }, [language]);

  useEffect(() => {
    // Also wakes the function while the sentence is being typed.
    service.about().then(setAbout, () => undefined);
  }, [service]);

  function switchLanguage() {
    const next = language === "zh" ? "en" : "zh";
    setLanguage(next);
    writeLanguage(next);
  }

  function remember(entry: Past) {
    setHistory((before) => {
      const after = remembered(before, entry);
      writeHistory(after);
      return after;
    });
  }

  function open({ task: wanted, text }: Past) {
    setTask(wanted);
    setOpened((before) => ({ ...before, [wanted]: { text, times: before[wanted].times + 1 } }));
  }

  function onTabKey(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = step === undefined ? { Home: 0, End: TASKS.length - 1 }[event.key] : TASKS.indexOf(task) + step;
    if (at === undefined) return;
    event.preventDefault();
    const next = TASKS[(at + TASKS.length) % TASKS.length] ?? "fill";
    setTask(next);
    tabs.current[next]?.focus();
  }

  const shared = {
    service,
    language,
    say,
    limits: about?.limits ?? DEFAULT_LIMITS,
    onSaid: setSaid,
    onAnswered: remember,
  };
  return (
    <>
      <header className="top">
        <div className="name">
          <h1>
            <span aria-hidden="true" className="seal" lang="zh-CN">
              填<i />
            </span>
            {say("title")}
          </h1>
          <p>{say("tagline")}</p>
        </div>
        <nav>
          <a href={service.address("docs")}>{say("docs")}</a>
          <button
            type="button"
            className="quiet"
            lang={language === "zh" ? "en" : "zh-CN"}
            aria-label={say("switch.label")}
            onClick={switchLanguage}
          >
            {say("switch")}
          </button>
        </nav>
      </header>
      <main>
        <div className="work">
          <div className="tabs" role="tablist" aria-label={say("tabs")} onKeyDown={onTabKey}>
            {TASKS.map((each) => (
              <button
                key={each}
                ref={(element) => {
                  tabs.current[each] = element;
                }}
                type="button"
                role="tab"
                id={`tab-${each}`}
                aria-selected={task === each}
                aria-controls={`panel-${each}`}
                tabIndex={task === each ? 0 : -1}
                onClick={() => setTask(each)}
              >
                {say(`tab.${each}`)}
              </button>
            ))}
          </div>
          <div role="tabpanel" id="panel-fill" aria-labelledby="tab-fill" hidden={task !== "fill"}>
            <Fill {...shared} opened={opened.fill} />
          </div>
          <div role="tabpanel" id="panel-correct" aria-labelledby="tab-correct" hidden={task !== "correct"}>
            <Correct {...shared} opened={opened.correct} />
          </div>
        </div>
        <aside>
          <Examples say={say} onOpen={open} />
          <History
            say={say}
            history={history}
            onOpen={open}
            onClear={() => {
              setHistory([]);
              writeHistory([]);
            }}
          />
        </aside>
      </main>
      <footer>
        {about !== null && (
          <p>
            {say("model")} <b>{about.name}</b> <code>{about.digest.slice(0, 12)}</code>
          </p>
        )}
        <p>{say("privacy")}</p>
      </footer>
      <p role="status" aria-live="polite" className="unseen">
        {said}
      </p>
    </>
  );
}
