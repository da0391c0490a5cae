/**
 * The half of the preload that records what an agent does: taps, integrations, the port of the explicit API. Carried as
 * text like the cold half, and compiled at the first sign of an agent: a program that talks to nobody pays nothing.
 */
import { type InstalledAgent, installAgent } from '../agent/install.ts';
import { EventSink, type RecordingPolicy } from '../agent/sink.ts';
import type { Config } from './config.ts';

export type Recording = InstalledAgent;

export interface RecordingOptions {
  policy: RecordingPolicy;
  captureLlm: Config['captureLlm'];
  threadId: number;
}

export function startRecording({ policy, captureLlm, threadId }: RecordingOptions): Recording {
  return installAgent({ sink: new EventSink({ policy }), captureLlm, threadId });
}
