/**
 * The part of OpenTelemetry's SDK for JavaScript that is used, as structural types: versions 1 and 2 of
 * `@opentelemetry/sdk-trace-base` both match, and neither is a dependency.
 */
export interface SpanLike {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status?: { readonly code?: number; readonly message?: string };
  readonly events?: readonly {
    readonly name: string;
    readonly attributes?: Readonly<Record<string, unknown>>;
  }[];
  /** Seconds and nanoseconds. */
  readonly duration?: readonly [number, number];
  spanContext(): { readonly traceId: string; readonly spanId: string };
  /** Version 2. */
  readonly parentSpanContext?: { readonly spanId?: string };
  /** Version 1. */
  readonly parentSpanId?: string;
}

export interface SpanProcessorLike {
  onStart(span: SpanLike, parentContext?: unknown): void;
  onEnd(span: SpanLike): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** The key of a span in the table of open spans. */
export function keyOf(span: SpanLike): string {
  const { traceId, spanId } = span.spanContext();
  return `${traceId}/${spanId}`;
}

export function parentKeyOf(span: SpanLike): string | undefined {
  const parent = span.parentSpanContext?.spanId ?? span.parentSpanId;
  return parent === undefined ? undefined : `${span.spanContext().traceId}/${parent}`;
}

/** The result of `read`, or undefined if a getter of the host throws or a field has an unexpected type. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Milliseconds; 0 if the span has no duration. */
export function tookMsOf(span: SpanLike): number {
  const ms = attempt(() => {
    const [seconds = 0, nanoseconds = 0] = span.duration ?? [];
    return Math.round(seconds * 1000 + nanoseconds / 1e6);
  });
  return ms !== undefined && Number.isFinite(ms) && ms > 0 ? ms : 0;
}

/** OpenTelemetry's SpanStatusCode.ERROR. */
const statusError = 2;

/** The error of a failed span; undefined if it did not fail. */
export function errorOfSpan({ status, events, attributes }: SpanLike) {
  const list = Array.isArray(events) ? (events as NonNullable<SpanLike['events']>) : [];
  const exception = list.findLast((event) => event?.name === 'exception')?.attributes;
  if (status?.code !== statusError && exception === undefined) return undefined;
  const type = exception?.['exception.type'] ?? attributes['error.type'];
  const message = exception?.['exception.message'] ?? status?.message;
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof message === 'string' && { message }),
  };
}
