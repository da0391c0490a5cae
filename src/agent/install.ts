/**
 * Starts recording the agent in this thread: taps on HTTP clients, integrations with frameworks, and the port of the explicit
 * API. Cheap at load: code for clients and frameworks that the program does not use is not loaded.
 */

import type { ByOrigin } from '../journal/layout/agent.ts';
import type { AgentPort } from './api/port.ts';
import { FrameworkRecorder } from './integrations/framework.ts';
import { integrate } from './integrations/table.ts';
import type { LateSink } from './record/late-sink.ts';
import type { ProgressWatch } from './record/progress-watch.ts';
import { AgentRecorder } from './record/recorder.ts';
import { tapBeginSites } from './taps/begin-sites.ts';
import { tapHttp } from './taps/http.ts';
import { tapHttp2 } from './taps/http2.ts';
import { ours } from './taps/own-work.ts';
import { tapUndici } from './taps/undici.ts';

export interface AgentInstallOptions {
  sink: LateSink;
  /**
   * `content`: includes conversations and arguments. `metadata`: counts, names and timing. `off`: only what the program
   * reports through the API.
   */
  captureLlm: 'content' | 'metadata' | 'off';
  /** `content`: also the bodies of requests that are not model calls. They are seen by the taps of `captureLlm` only. */
  captureHttp?: 'content' | 'metadata';
  /** 0, the default, is the main thread. */
  threadId?: number;
  /** The id of the server's request that the running code belongs to. */
  readOrigin?: (() => ByOrigin) | undefined;
  /** Receives the events of the sink; the explicit API sets its deadline. */
  progress?: ProgressWatch;
}

export interface InstalledAgent {
  recorder: AgentRecorder;
  /** For the host object, where the explicit API looks it up. */
  port: AgentPort;
  /** True once agent activity was seen: a run, a step, a model call or a tool call. Plain requests do not count. */
  readonly isAgent: boolean;
  /** Writes everything that was delayed. */
  open(): void;
  /**
   * The text of `agent-events.json`, including everything in flight, for the fatal path. `thrown`: the error that ends the
   * process, followed by its causes. Undefined if nothing was recorded.
   */
  renderPart(atMs?: number, thrown?: readonly unknown[]): string | undefined;
  /** The form in which this content would be recorded in an event. */
  clean(content: object): Record<string, unknown> | undefined;
  /** Receives a message of a diagnostics channel that was published before the taps were installed. */
  hear(channel: string, message: unknown): void;
  uninstall(): void;
}

/** Starts recording into `sink`. */
export function installAgent({
  sink,
  captureLlm,
  captureHttp = 'metadata',
  threadId = 0,
  readOrigin,
  progress,
}: AgentInstallOptions): InstalledAgent {
  const levels = { model: captureLlm === 'content' ? captureLlm : 'metadata', http: captureHttp } as const;
  const recorder = new AgentRecorder(sink, levels, threadId, readOrigin);
  const clients = [tapUndici, tapHttp, tapHttp2, tapBeginSites];
  const taps = captureLlm === 'off' ? [] : [...clients.map((tap) => tap(recorder)), ...integrate(recorder)];
  return {
    recorder,
    port: portOf(recorder, progress),
    get isAgent() {
      return sink.hasAgentEvents;
    },
    open: () => void sink.opened(),
    renderPart(atMs, thrown = []) {
      recorder.flush();
      const { within } = recorder;
      const failed = recorder.failedWork.findOwners(thrown);
      const death = { ...(within && { within }), ...(failed.length && { failed }) };
      return sink.opened()?.renderPart(atMs, death);
    },
    clean: (content) => sink.opened()?.clean(content),
    hear(channel, message) {
      for (const tap of taps) tap.hear(channel, message);
    },
    uninstall() {
      for (const tap of taps) tap.undo();
      progress?.stop();
    },
  };
}

function portOf(recorder: AgentRecorder, progress: ProgressWatch | undefined): AgentPort {
  return {
    nextId: (letter) => recorder.nextId(letter),
    record: (kind, facts, content) => void ours(() => recorder.report(kind, facts, content)),
    framework: (source) => new FrameworkRecorder(recorder, source),
    tapped: recorder.tapped,
    get scope() {
      return recorder.scope;
    },
    get storage() {
      return recorder.storage;
    },
    ...(progress && { expectProgress: (ms, options) => progress.expect(ms, options) }),
  };
}
