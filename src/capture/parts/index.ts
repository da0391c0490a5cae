/** The parts after `trigger.json`, in the order of their value. Adding one: see ../README.md. */

import { agentPart } from './agent.ts';
import { agentEventsPart } from './agent-events.ts';
import { driftPart } from './drift.ts';
import { environmentPart } from './environment.ts';
import { errorPart } from './error.ts';
import { handlesPart } from './handles.ts';
import { heapCensusPart } from './heap/census.ts';
import { memoryPart } from './heap/memory.ts';
import { heapProfilePart } from './heap/profile.ts';
import { nativeModulesPart } from './native-modules.ts';
import { originPart } from './origin.ts';
import { packagesPart } from './packages.ts';
import type { PartProducer } from './part.ts';
import { processPart } from './process.ts';
import { processEventsPart } from './process-events.ts';
import { reportPart } from './report.ts';
import { scriptsPart } from './scripts.ts';
import { testsPart } from './tests.ts';
import { localsPart } from './threads/locals.ts';
import { suspendedPart } from './threads/suspended.ts';
import { threadsPart } from './threads/threads.ts';
import { workerStacksPart } from './threads/worker-stacks.ts';

export const partProducers: readonly PartProducer[] = [
  errorPart,
  originPart,
  testsPart,
  agentPart,
  agentEventsPart,
  memoryPart,
  environmentPart,
  processEventsPart,
  processPart,
  localsPart,
  workerStacksPart,
  suspendedPart,
  scriptsPart,
  heapProfilePart,
  handlesPart,
  packagesPart,
  nativeModulesPart,
  threadsPart,
  driftPart,
  reportPart,
  heapCensusPart,
];
