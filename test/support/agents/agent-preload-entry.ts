/**
 * Entry of the preload that the agent tests bundle: appends each event to a file as one line, as a journal would, so that
 * what survives a SIGKILL can be read. If AGENT_PART_FILE is set, the part `agent-events.json` is written to it at exit.
 */
import { appendFileSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { installAgent } from '../../../src/agent/install.ts';
import { LateSink } from '../../../src/agent/record/late-sink.ts';
import { EventSink } from '../../../src/agent/record/sink.ts';
import { provideAgentPort } from './agent-host.ts';

const { AGENT_EVENTS_FILE: file, AGENT_PART_FILE: partFile, AGENT_LEVEL: level } = process.env;
if (file) {
  const fd = openSync(file, 'a');
  const secret = /sk-[a-z0-9]{8,}/g;
  const text = (value: string) => value.replace(secret, '[redacted]');
  const write = (_kind: number, payload: string) => writeSync(fd, `${payload}\n`);
  const sink = new EventSink({
    policy: { text, value: (value) => JSON.parse(text(JSON.stringify(value))) },
    journal: { append: write, appendBuffered: write, flush() {} },
  });
  const installed = installAgent({
    sink: new LateSink(() => sink),
    captureLlm: (level as 'content' | undefined) ?? 'content',
  });
  provideAgentPort(installed.port);
  if (partFile)
    process.on('exit', () => {
      writeFileSync(partFile, installed.renderPart() ?? '');
      if (sink.failure) appendFileSync(partFile, `\nfailure: ${sink.failure}`);
    });
}
