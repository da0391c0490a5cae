/**
 * The model calls that the taps have seen, so that a tracer's span of the same call is not recorded as another call. A span
 * belongs to a call if the request was made inside of the span; otherwise if both have the same reply id; and if neither is
 * known, if a call to the same model began while the span was open. Each call is matched to one span only. OpenTelemetry's
 * API stores its context manager under a registered symbol, and the active span in the context under another; none of its
 * code is loaded here.
 */
const apiKey = Symbol.for('opentelemetry.js.api.1');
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN');
const callLimit = 1000;

export interface Tapped {
  readonly number: number;
  readonly span: string | undefined;
  readonly model: string | undefined;
  /** The id is known once the reply has begun. Only the id may be retained: the owner releases the rest at its end. */
  reply: { readonly id: string | undefined };
}

/** What a span knows about its call. */
export interface ModelSpan {
  /** Whether the span with this key is this span or inside of it. */
  covers(span: string): boolean;
  responseId: string | undefined;
  model: string | undefined;
  /** The value of `count` when the span began. */
  since: number;
}

export class TappedCalls {
  /** The number of calls so far. */
  count = 0;
  /** Calls that have not been matched to a span. */
  #free: Tapped[] = [];

  begin(model: string | undefined, reply: Tapped['reply']): Tapped {
    this.count++;
    const call = { number: this.count, span: activeSpan(), model, reply };
    this.#free.push(call);
    if (this.#free.length > callLimit) this.#free.shift();
    return call;
  }

  /** Whether the taps have recorded the call of this span. The call is then taken. */
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

/** `<trace>/<span>` of the active span of the running code. */
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
