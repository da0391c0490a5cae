/**
 * What shows that a program is an agent, before anything of the recording is compiled: channels that speak, and global
 * names that frameworks read or write first of all. Carried by the part of the preload that every program pays for.
 */

/** Channels of `node:diagnostics_channel`; the first message is to be handed on. */
export const firstChannels = [
  'undici:request:create',
  'http.client.request.created',
  'http.client.request.start',
  'net.client.socket',
  'http2.client.stream.created',
  'tracing:ai:telemetry:start',
  'child_process',
];

/** The integrations explain them: LangChain's shared storage, the provider of OpenAI Agents, the AI SDK's registry. */
const firstNames: PropertyKey[] = [
  Symbol.for('ls:tracing_async_local_storage'),
  Symbol.for('openai.agents.core.traceProvider'),
  'AI_SDK_TELEMETRY_INTEGRATIONS',
];

/**
 * Calls `wake` when a framework looks at one of its global names or sets it, and then lets it go on as if the name had
 * been as `wake` left it. Returns the undoing.
 */
export function watchGlobalNames(wake: () => void): () => void {
  const globals = globalThis as unknown as Record<PropertyKey, unknown>;
  const watched = firstNames.filter((name) => !(name in globals));
  const stop = (): void => {
    for (const name of watched.splice(0)) Reflect.deleteProperty(globals, name);
  };
  const wakeUp = (): void => {
    stop();
    wake();
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
