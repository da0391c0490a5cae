/**
 * The first signs that a program is an agent: diagnostics channels, and global names that frameworks access before anything
 * else. Watched before any of the recording code is compiled, so this is the part of it that every program pays for.
 */

import { ours } from './taps/own-work.ts';

/** Channels of `node:diagnostics_channel`. The first message must be forwarded to the recording. */
export const firstChannels = [
  'undici:request:create',
  'http.client.request.created',
  'http.client.request.start',
  'net.client.socket',
  'http2.client.stream.created',
  'tracing:ai:telemetry:start',
  'child_process',
];

/**
 * What each name is for is documented in the integrations: LangChain's shared storage, the trace provider of OpenAI Agents,
 * the registry of the AI SDK.
 */
const firstNames: PropertyKey[] = [
  Symbol.for('ls:tracing_async_local_storage'),
  Symbol.for('openai.agents.core.traceProvider'),
  'AI_SDK_TELEMETRY_INTEGRATIONS',
];

/**
 * Calls `wake` when a framework first reads or sets one of its global names. The access then continues on the property as
 * `wake` left it. Returns a function that stops watching.
 */
export function watchGlobalNames(wake: () => void): () => void {
  const globals = globalThis as unknown as Record<PropertyKey, unknown>;
  const watched = firstNames.filter((name) => !(name in globals));
  const stop = (): void => {
    for (let at = 0; at < watched.length; at++) Reflect.deleteProperty(globals, watched[at] as string);
    watched.length = 0;
  };
  const wakeUp = (): void => {
    stop();
    ours(wake);
  };
  for (const name of watched)
    Object.defineProperty(globals, name, {
      configurable: true,
      enumerable: false,
      get() {
        wakeUp();
        return globals[name];
      },
      set(value: unknown) {
        wakeUp();
        globals[name] = value;
      },
    });
  return stop;
}
