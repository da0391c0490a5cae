/** The receivers of death reports: an OpenTelemetry collector and Sentry, from their addresses. Pure. */
import { AgentdumpError } from '../../errors.ts';
import { version } from '../../version.ts';
import type { ReportedDeath } from './facts.ts';
import { otlpLogs } from './otlp.ts';
import { sentryEnvelope } from './sentry.ts';

export interface Receiver {
  /** A name to show to users, without keys. */
  name: string;
  /** The key in the dump folder's list of what was sent. */
  place: string;
  request(
    death: ReportedDeath,
    nowMs: number,
  ): { url: string; headers: Record<string, string>; body: string };
  /** Why a response with status 200 is a refusal. */
  refusal?(answer: string): string | undefined;
}

/** The receivers named in the environment. @throws AgentdumpError `usage` for an invalid address. */
export function receiversOf(environment: NodeJS.ProcessEnv): Receiver[] {
  const { AGENTDUMP_OTLP: otlp, AGENTDUMP_SENTRY: dsn, OTEL_EXPORTER_OTLP_HEADERS: headers } = environment;
  return [...(otlp ? [collectorAt(otlp, headers ?? '')] : []), ...(dsn ? [sentryAt(dsn)] : [])];
}

/** @param headers in the form of OpenTelemetry's exporters: `name=value,name=value`, values percent-encoded. */
function collectorAt(address: string, headers: string): Receiver {
  const base = httpUrl(address, 'AGENTDUMP_OTLP');
  if (!base.pathname.endsWith('/v1/logs')) base.pathname = `${base.pathname.replace(/\/+$/, '')}/v1/logs`;
  const more = headers.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const] : [];
  });
  return {
    name: `the collector at ${base.host}`,
    place: `otlp ${base.origin}${base.pathname}`,
    request: (death, nowMs) => ({
      url: base.href,
      headers: { ...Object.fromEntries(more), 'content-type': 'application/json' },
      body: JSON.stringify(otlpLogs(death, nowMs)),
    }),
    refusal: partialRefusal,
  };
}

/** OTLP answers 200 to a partial success. */
function partialRefusal(answer: string): string | undefined {
  try {
    const { partialSuccess } = JSON.parse(answer) as { partialSuccess?: Record<string, unknown> };
    const rejected = Number(partialSuccess?.['rejectedLogRecords'] ?? 0);
    return rejected > 0 ? String(partialSuccess?.['errorMessage'] ?? 'rejected') : undefined;
  } catch {
    return undefined;
  }
}

/** @param dsn `https://KEY@HOST/PATH/PROJECT`. */
function sentryAt(dsn: string): Receiver {
  const url = httpUrl(dsn, 'AGENTDUMP_SENTRY');
  const [, path = '', project] = /^(.*)\/(\d+)$/.exec(url.pathname) ?? [];
  if (!url.username || project === undefined)
    throw new AgentdumpError('usage', 'AGENTDUMP_SENTRY is no DSN: https://KEY@HOST/PROJECT', {
      argument: 'AGENTDUMP_SENTRY',
    });
  return {
    name: `Sentry at ${url.host}`,
    place: `sentry ${url.host}${url.pathname}`,
    request: (death, nowMs) => ({
      url: `${url.origin}${path}/api/${project}/envelope/`,
      headers: {
        'content-type': 'application/x-sentry-envelope',
        'x-sentry-auth': `Sentry sentry_version=7, sentry_client=agentdump/${version}, sentry_key=${url.username}`,
      },
      body: sentryEnvelope(death, nowMs).body,
    }),
  };
}

function httpUrl(address: string, variable: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new AgentdumpError('usage', `${variable} is no http address`, { argument: variable });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
