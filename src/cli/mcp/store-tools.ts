/**
 * Questions about the deaths of a fleet, if the server was started with a store: which faults there are, and the history of
 * one.
 */
import { type Issue, type IssueStory, issueStatuses } from '../../model/fleet/issue.ts';
import { traitsOf } from '../../model/verdict.ts';
import { renderIssue, renderIssueList } from '../../report/issues.ts';
import { page } from './account-tools.ts';
import type { AllowedBundles } from './allowed-bundles.ts';
import { answerOf, flag, integer, listOf, oneOf, record, text } from './output-schema.ts';
import { countOf, type Tool, textOf } from './tool.ts';

const issueFields = {
  id: text,
  title: text,
  count: integer,
  firstSeen: text,
  lastSeen: text,
  status: oneOf(...issueStatuses),
  because: text,
};
/** What is not known of every issue. */
const otherFields = {
  firstRelease: text,
  lastRelease: text,
  rate: record({ deaths: integer, starts: integer, since: text }),
};

const listTool: Tool = {
  name: 'list_issues',
  title: 'Faults of the fleet',
  description:
    'The faults that the deaths of all machines show, what needs somebody first: regressed, new, ongoing. With status "new": what is new; with by "deaths": the worst ones.',
  needsStore: true,
  input: {
    fields: {
      status: {
        type: 'string',
        description: 'Only those in this state',
        enum: ['any', ...issueStatuses],
        default: 'any',
      },
      by: { type: 'string', description: 'Order', enum: ['urgency', 'deaths'], default: 'urgency' },
      limit: { type: 'integer', description: 'How many', minimum: 1, maximum: 200, default: 20 },
    },
  },
  async answer(words, allowed) {
    const status = textOf(words, 'status') ?? 'any';
    const issues = (await fleetOf(allowed).list()).filter(
      (issue) => traitsOf(issue.kind).nature !== 'asked' && (status === 'any' || issue.status === status),
    );
    if (textOf(words, 'by') === 'deaths') issues.sort((a, b) => b.count - a.count);
    const shown = issues.slice(0, countOf(words, 'limit', 20));
    const more = issues.length - shown.length;
    return {
      text: shown.length
        ? [renderIssueList(shown, page).trimEnd(), ...(more ? [`… and ${more} more`] : [])].join('\n')
        : 'no such issue in the store',
      data: { more, issues: shown.map(structuredIssue) },
    };
  },
  output: answerOf({ more: integer, issues: listOf(record(issueFields, otherFields)) }),
};

const counted = listOf(record({ name: text, count: integer }));
const unlisted = record({ names: integer, count: integer }, { isAtLeast: flag });

const storyTool: Tool = {
  name: 'issue_story',
  title: 'The story of one fault',
  description:
    'Of one fault: since when and in which releases, how often by hour, on which hosts and Nodes, why its deaths are one, and its newest bundles.',
  needsStore: true,
  input: {
    fields: {
      id: { type: 'string', description: 'Its id, or the start of it, from list_issues', maxLength: 16 },
      deaths: { type: 'integer', description: 'How many bundles', minimum: 1, maximum: 100, default: 10 },
    },
    required: ['id'],
  },
  async answer(words, allowed) {
    const story = await fleetOf(allowed).story(textOf(words, 'id') ?? '');
    const shown = { ...story, deaths: story.deaths.slice(0, countOf(words, 'deaths', 10)) };
    return { text: renderIssue(shown, page), data: structuredStory(shown) };
  },
  output: answerOf(
    {
      ...issueFields,
      bundles: integer,
      runs: integer,
      hours: listOf(record({ hour: text, count: integer })),
      releases: listOf(record({ count: integer, firstSeen: text, lastSeen: text }, { release: text })),
      programs: counted,
      hosts: counted,
      nodeVersions: counted,
      environments: counted,
      agents: counted,
      deaths: listOf(
        record(
          { bundle: text, at: text, bytes: integer },
          {
            ...{ path: text, program: text, host: text, nodeVersion: text, release: text },
            ...{ commit: text, environment: text, agent: text },
          },
        ),
      ),
    },
    {
      ...otherFields,
      resolved: record({ at: text }, { release: text }),
      unlisted: record(
        {},
        {
          ...{ programs: unlisted, hosts: unlisted, nodeVersions: unlisted },
          ...{ environments: unlisted, agents: unlisted },
        },
      ),
    },
  ),
};

/** The server offers these tools only if it has a store. */
function fleetOf({ fleet }: AllowedBundles) {
  if (!fleet) throw new Error('this server was started without a store');
  return fleet;
}

function structuredIssue({ kind: _, ...issue }: Issue): Omit<Issue, 'kind'> {
  return issue;
}

function structuredStory({ kind: _, signatures: __, ...story }: IssueStory): object {
  return story;
}

export const storeTools: readonly Tool[] = [listTool, storyTool];
