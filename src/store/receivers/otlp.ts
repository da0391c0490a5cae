/**
 * A death as an OpenTelemetry log record in OTLP's JSON over HTTP. Sources: opentelemetry-proto, logs.proto and the JSON
 * encoding in "OTLP Specification"; semantic conventions for exceptions in logs and for generative AI.
 */
import { version } from '../../version.ts';
import { agentAttributes, bundleAttributes, cutText, factsOfDeath, type ReportedDeath } from './facts.ts';

type Value = string | number | undefined;

/** SEVERITY_NUMBER_FATAL. */
const fatal = 21;

/** An ExportLogsServiceRequest. */
export function otlpLogs(death: ReportedDeath, nowMs: number): object {
  const { account, atMs } = death;
  const { error, verdict, process } = account;
  const facts = factsOfDeath(death);
  const stack = error?.stackText;
  return {
    resourceLogs: [
      {
        resource: {
          attributes: attributesOf({
            'service.name': facts.service,
            'service.version': facts.release,
            'deployment.environment.name': facts.environment,
            'host.name': facts.host,
            'process.pid': process?.pid,
            'process.runtime.name': 'nodejs',
            'process.runtime.version': process?.nodeVersion?.replace(/^v/, ''),
          }),
        },
        scopeLogs: [
          {
            scope: { name: 'agentdump', version },
            logRecords: [
              {
                timeUnixNano: nanosOf(atMs),
                observedTimeUnixNano: nanosOf(nowMs),
                severityNumber: fatal,
                severityText: 'FATAL',
                body: { stringValue: cutText(verdict?.title ?? 'a death that nothing explains') },
                attributes: attributesOf({
                  'exception.type': error?.name,
                  'exception.message': error?.message,
                  'exception.stacktrace': stack,
                  ...bundleAttributes(death),
                  ...agentAttributes(facts),
                }),
                ...(facts.traceId && { traceId: facts.traceId }),
              },
            ],
          },
        ],
      },
    ],
  };
}

/** 64-bit integers are strings in OTLP's JSON. */
const nanosOf = (ms: number): string => `${Math.round(ms)}000000`;

function attributesOf(values: Record<string, Value>): object[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined || value === '') return [];
    return [
      {
        key,
        value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: cutText(value) },
      },
    ];
  });
}
