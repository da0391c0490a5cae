/** The sections in order, each with the condition under which it is shown. */
import type { ComponentType } from 'preact';
import type { Account } from '../../model/account.ts';
import { Bundle } from './sections/bundle.tsx';
import { Conversation } from './sections/conversation.tsx';
import { Environment } from './sections/environment.tsx';
import { Gaps } from './sections/gaps.tsx';
import { Memory } from './sections/memory.tsx';
import { Modules } from './sections/modules.tsx';
import { Requests } from './sections/requests.tsx';
import { hasFault, placeWithoutError, Stack } from './sections/stack.tsx';
import { Threads } from './sections/threads.tsx';
import { TimelineSection } from './sections/timeline.tsx';
import { Unusual } from './sections/unusual.tsx';
import { EvidenceSection, VerdictSection } from './sections/verdict.tsx';

export interface SectionEntry {
  id: string;
  /** Absent if the section renders its own heading. */
  title?: string;
  navTitle: string;
  isThere(account: Account): boolean;
  /** Shown next to its name in the list. */
  count?(account: Account): number | undefined;
  Body: ComponentType<{ account: Account }>;
}

export const sections: readonly SectionEntry[] = [
  { id: 'verdict', navTitle: 'Verdict', isThere: () => true, Body: VerdictSection },
  {
    id: 'stack',
    title: 'Where it happened',
    navTitle: 'Stack',
    isThere: (account) =>
      account.error !== undefined || hasFault(account) || placeWithoutError(account) !== undefined,
    count: ({ error }) => error?.frames?.length,
    Body: Stack,
  },
  {
    id: 'evidence',
    navTitle: 'Evidence',
    isThere: ({ verdict, process }) => verdict !== undefined || process !== undefined,
    Body: EvidenceSection,
  },
  {
    id: 'unusual',
    title: 'Unusual',
    navTitle: 'Unusual',
    isThere: ({ environment }) => Boolean(environment?.unusual?.length),
    count: ({ environment }) => environment?.unusual?.length,
    Body: Unusual,
  },
  {
    id: 'threads',
    title: 'Threads',
    navTitle: 'Threads',
    isThere: (account) => threadsToShow(account) > 0,
    count: threadsToShow,
    Body: Threads,
  },
  {
    id: 'requests',
    title: 'Requests in flight',
    navTitle: 'Requests',
    isThere: ({ requests }) => Boolean(requests?.length),
    count: ({ requests }) => requests?.length,
    Body: Requests,
  },
  {
    id: 'agent',
    title: 'What the agent was doing',
    navTitle: 'Agent',
    isThere: ({ agent }) => Boolean(agent?.runs.length || agent?.state || agent?.openRequests?.length),
    Body: TimelineSection,
  },
  {
    id: 'conversation',
    title: 'Conversation',
    navTitle: 'Conversation',
    isThere: ({ agent }) =>
      Boolean(agent?.runs.some((run) => run.messages.length || run.reportedMessages?.length)),
    count: ({ agent }) => agent?.runs.reduce((sum, run) => sum + run.messages.length, 0),
    Body: Conversation,
  },
  {
    id: 'memory',
    title: 'Memory',
    navTitle: 'Memory',
    isThere: ({ memory }) => memory !== undefined,
    Body: Memory,
  },
  {
    id: 'environment',
    title: 'Process and environment',
    navTitle: 'Environment',
    isThere: ({ environment, process }) => environment !== undefined || process !== undefined,
    Body: Environment,
  },
  {
    id: 'modules',
    title: 'Modules',
    navTitle: 'Modules',
    isThere: ({ modules }) => Boolean(modules?.packages.length || modules?.native.length),
    count: ({ modules }) => modules?.packages.length,
    Body: Modules,
  },
  {
    id: 'gaps',
    title: 'What is not known',
    navTitle: 'Gaps',
    isThere: ({ gaps }) => gaps.length > 0,
    count: ({ gaps }) => gaps.length,
    Body: Gaps,
  },
  {
    id: 'bundle',
    title: 'The bundle',
    navTitle: 'Bundle',
    isThere: ({ bundle }) => bundle !== undefined,
    count: ({ bundle }) => bundle?.parts.length,
    Body: Bundle,
  },
];

/** The thread whose stack the error shows is not shown twice. */
function threadsToShow({ threads, error, suspended }: Account): number {
  const isShown = (crashed: boolean) => !(crashed && error?.frames?.length);
  return (
    (threads ?? []).filter((t) => t.frames.length && isShown(t.crashed)).length + (suspended?.length ?? 0)
  );
}
