/**
 * Starts the recording of the agent in this thread: taps on HTTP clients, integrations with frameworks, and the port
 * for the explicit API. Cheap at load: what a program does not use is not loaded.
 */

import type { AgentPort } from './api/port.ts';
import { FrameworkRecorder } from './integrations/framework.ts';
import { integrate } from './integrations/table.ts';
import type { LateSink } from './record/late-sink.ts';
import type { ProgressWatch } from './record/progress-watch.ts';
import { AgentRecorder } from './record/recorder.ts';
import { tapBeginSites } from './taps/begin-sites.ts';
import { tapHttp } from './taps/http.ts';
import { tapHttp2 } from './taps/http2.ts';
import { tapUndici } from './taps/undici.ts';

export interface AgentInstallOptions {
  sink: LateSink;
  /** content: conversations and arguments too. metadata: counts, names and timing. off: only what the API is told. */
  captureLlm: 'content' | 'metadata' | 'off';
  /** content: bodies of requests that are no model calls too. Only the taps of `captureLlm` see them. */
  captureHttp?: 'content' | 'metadata';
  /** 0, the default, for the main thread. */
  threadId?: number;
  /** Hears the sink's events; the explicit API sets its deadline. */
  progress?: ProgressWatch;
}

export interface InstalledAgent {
  recorder: AgentRecorder;
  /** For the host object, where the explicit API finds it. */
  port: AgentPort;
  /** Something of an agent's was seen: a run, a step, a model or tool call; not requests alone. */
  readonly isAgent: boolean;
  /** Has everything written that waited for its time. */
  open(): void;
  /**
   * The text of `agent-events.json`, with all that is in flight: for the fatal path. `thrown`: what the process dies of,
   * then its causes. Undefined when none could be recorded.
   */
  renderPart(thrown?: readonly unknown[]): string | undefined;
  /** What would be kept of this content in an event. */
  clean(content: object): Record<string, unknown> | undefined;
  /** Hears a message of a diagnostics channel that was published before the taps were there. */
  hear(channel: string, message: unknown): void;
  uninstall(): void;
}

/** Starts to record into `sink`. */
export function installAgent({
  sink,
  captureLlm,
  captureHttp = 'metadata',
  threadId = 0,
  progress,
}: AgentInstallOptions): InstalledAgent {
  const levels = { model: captureLlm === 'content' ? captureLlm : 'metadata', http: captureHttp } as const;
  const recorder = new AgentRecorder(sink, levels, threadId);
  const clients = [tapUndici, tapHttp, tapHttp2, tapBeginSites];
  const taps = captureLlm === 'off' ? [] : [...clients.map((tap) => tap(recorder)), ...integrate(recorder)];
  return {
    recorder,
    port: portOf(recorder, progress),
    get isAgent() {
      return sink.hasAgentEvents;
    },
    open: () => void sink.opened(),
    renderPart(thrown = []) {
      recorder.flush();
      const { within } = recorder;
      const failed = recorder.failedWork.findOwners(thrown);
      return sink.opened()?.renderPart({ ...(within && { within }), ...(failed.length && { failed }) });
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
    record: (kind, facts, content) => recorder.report(kind, facts, content),
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
