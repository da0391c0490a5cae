/**
 * Which model calls the taps have seen, so that a tracer's span of the same call is not recorded as another one. A span is
 * the call's when the request was made inside of it; else when it names the same reply; and where neither is known, when
 * a call to its model began while it was open. Each call is one span's only. OpenTelemetry's API keeps its context manager
 * under a registered symbol, and the active span in the context under another; nothing of it is loaded here.
 */
const apiKey = Symbol.for('opentelemetry.js.api.1');
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN');
const callLimit = 1000;

export interface Tapped {
  readonly number: number;
  readonly span: string | undefined;
  readonly model: string | undefined;
  /** Its id is known once the reply has begun. What else it holds must not be kept here: its owner lets go of it at the end. */
  reply: { readonly id: string | undefined };
}

/** What a span knows of its call. */
export interface ModelSpan {
  /** Whether a span, by its key, is this one or inside of it. */
  covers(span: string): boolean;
  responseId: string | undefined;
  model: string | undefined;
  /** What `count` was at its start. */
  since: number;
}

export class TappedCalls {
  /** How many there have been. */
  count = 0;
  /** Not yet any span's. */
  #free: Tapped[] = [];

  begin(model: string | undefined, reply: Tapped['reply']): Tapped {
    this.count++;
    const call = { number: this.count, span: activeSpan(), model, reply };
    this.#free.push(call);
    if (this.#free.length > callLimit) this.#free.shift();
    return call;
  }

  /** Whether the taps have recorded this span's call. */
  claim({ covers, responseId, model, since }: ModelSpan): boolean {
    const inside = this.#free.filter(({ span }) => span !== undefined && covers(span));
    if (inside.length) return this.#take(inside);
    const named = this.#free.find(({ reply }) => reply.id !== undefined && reply.id === responseId);
    if (named) return this.#take([named]);
    const alike = this.#free.find(
      (call) =>
        call.number > since &&
        call.span === undefined &&
        (responseId === undefined || call.reply.id === undefined) &&
        (model === undefined || call.model === undefined || call.model === model),
    );
    return alike !== undefined && this.#take([alike]);
  }

  #take(calls: Tapped[]): true {
    this.#free = this.#free.filter((call) => !calls.includes(call));
    return true;
  }
}

/** `<trace>/<span>` of the span that is active in the running code. */
function activeSpan(): string | undefined {
  const api = (globalThis as Record<symbol, unknown>)[apiKey] as Api | undefined;
  if (!api?.context) return undefined;
  try {
    const span = api.context.active().getValue(spanKey) as Span | undefined;
    const { traceId, spanId } = span?.spanContext() ?? {};
    return spanId === undefined ? undefined : `${traceId}/${spanId}`;
  } catch {
    return undefined;
  }
}

interface Api {
  context?: { active(): Context };
}

interface Context {
  getValue(key: symbol): unknown;
}

interface Span {
  spanContext(): { traceId: string; spanId: string };
}
