/** The service, at the page's own address. */

import axios, { AxiosError, type AxiosInstance } from "axios";
import type { Limits } from "./masks";

export interface Candidate {
  token: string;
  score: number;
  text: string;
}

export interface FilledMask {
  index: number;
  start: number;
  end: number;
  candidates: Candidate[];
}

export type Source = "lexicon" | "model" | "mixed";

export interface JointCandidate {
  tokens: string[];
  score: number;
  lexicon_score?: number;
  text: string;
  source: Source;
}

export interface FilledText {
  text: string;
  truncated: boolean;
  unknown_characters: number;
  cached: boolean;
  masks: FilledMask[];
  joint: JointCandidate[];
}

export interface Correction {
  start: number;
  end: number;
  original: string;
  suggestions: { token: string; margin: number }[];
}

export interface CorrectedText {
  text: string;
  corrected: string;
  unknown_characters: number;
  cached: boolean;
  corrections: Correction[];
}

export interface Answer<Result> {
  request_id: string;
  model: { name: string; digest: string };
  timing_ms: { total: number; encode: number; run: number; decode: number; cache: number };
  results: Result[];
}

export interface Timed<Result> {
  answer: Answer<Result>;
  result: Result;
  roundTripMs: number;
}

export interface About {
  name: string;
  digest: string;
  vocabulary_size: number;
  limits: Limits;
}

export type ProblemKind = "offline" | "unreachable" | "too-large" | "invalid" | "throttled" | "unavailable" | "failed";

export interface Problem {
  kind: ProblemKind;
  status: number;
  /** The service's own words, in the language asked for; absent where a gateway answered in its place. */
  message?: string;
  requestId?: string;
}

// The script stands in assets/, one folder below the page, with or without a slash at the end of the page's address.
export function baseOf(script: string): string {
  return new URL("../", script).href;
}

export class Service {
  private readonly http: AxiosInstance;

  constructor(readonly base: string) {
    this.http = axios.create({ baseURL: base, timeout: 60_000 });
  }

  address(path: string): string {
    return new URL(path, this.base).href;
  }

  async about(): Promise<About> {
    return (await this.http.get<About>("v1/model")).data;
  }

  fill(text: string, topK: number, language: string, signal: AbortSignal): Promise<Timed<FilledText>> {
    return this.post("v1/fill-mask", { text, top_k: topK }, language, signal);
  }

  correct(text: string, language: string, signal: AbortSignal): Promise<Timed<CorrectedText>> {
    return this.post("v1/correct", { text }, language, signal);
  }

  private async post<Result>(
    path: string,
    body: object,
    language: string,
    signal: AbortSignal,
  ): Promise<Timed<Result>> {
    const start = performance.now();
    const { data } = await this.http.post<Answer<Result>>(path, body, {
      signal,
      headers: { "Accept-Language": language },
    });
    const result = data.results?.[0];
    if (result === undefined) throw new AxiosError("no result", AxiosError.ERR_BAD_RESPONSE);
    return { answer: data, result, roundTripMs: performance.now() - start };
  }
}

const KINDS: Record<number, ProblemKind> = {
  400: "invalid",
  413: "too-large",
  422: "invalid",
  429: "throttled",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};

/** Sort what went wrong; `online` is what the browser says of its connection. */
export function problemOf(error: unknown, online: boolean): Problem {
  if (!axios.isAxiosError(error)) return { kind: "failed", status: 0 };
  const response = error.response;
  if (response === undefined) {
    return { kind: online ? (error.code === AxiosError.ERR_BAD_RESPONSE ? "failed" : "unreachable") : "offline", status: 0 };
  }
  const problem: Problem = { kind: KINDS[response.status] ?? "failed", status: response.status };
  const own: unknown = (response.data as { error?: unknown } | undefined)?.error;
  if (typeof own === "object" && own !== null) {
    const { message, request_id: requestId } = own as { message?: unknown; request_id?: unknown };
    if (typeof message === "string") problem.message = message;
    if (typeof requestId === "string") problem.requestId = requestId;
  }
  return problem;
}
