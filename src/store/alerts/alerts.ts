/**
 * Posts alerts about the issues of newly stored bundles to a webhook. An alert is inserted as a row before it is posted, so
 * that only one of many senders posts it. If the webhook is not available, or the sender is killed, the next sender posts it.
 */
import { AgentdumpError } from '../../errors.ts';
import type { IssueStory } from '../../model/fleet/issue.ts';
import type { Query } from '../index/database.ts';
import { showIssue } from '../issues.ts';
import type { Store } from '../open-store.ts';
import { type Alert, type AlertKind, alertsFor, type RecentDeaths, recentMinutes } from './due.ts';
import { postAlert, type Webhook } from './webhook.ts';

/** A row that was claimed but not posted becomes free again after this time. */
const claimMinutes = 2;
const mostAtOnce = 50;

/**
 * @param issues of the bundles that were stored. @returns the number of alerts posted. @throws what `postAlert` throws; the
 * next sender then posts the alert.
 */
export async function tellAlerts(
  store: Store,
  webhook: Webhook,
  issues: ReadonlySet<string>,
): Promise<number> {
  const { query } = store.index;
  const nowMs = Date.now();
  for (const issue of issues) {
    const story = await storyOf(store, issue, nowMs);
    if (!story) continue;
    for (const alert of alertsFor(story, await readRecent(query, issue), nowMs))
      await note(query, issue, alert);
  }
  let told = 0;
  while (told < mostAtOnce) {
    const next = await claim(query);
    if (!next) break;
    const story = await storyOf(store, next.issue, nowMs);
    if (story) await postAlert(webhook, next, story);
    await query(
      'update agentdump_alerts set told_at = now() where issue = $1 and kind = $2 and occasion = $3',
      [next.issue, next.kind, next.occasion],
    );
    if (story) told++;
  }
  return told;
}

/** Undefined if all its deaths have been moved to other issues. */
async function storyOf(store: Store, issue: string, nowMs: number): Promise<IssueStory | undefined> {
  try {
    return await showIssue(store, issue, { nowMs, mostDeaths: 1 });
  } catch (error) {
    if (error instanceof AgentdumpError && error.code === 'not-found') return undefined;
    throw error;
  }
}

async function readRecent(query: Query, issue: string): Promise<RecentDeaths> {
  const [row] = await query<{ count: number; hosts: number }>(
    `select count(*)::integer as count, count(distinct death.host)::integer as hosts
     from agentdump_deaths as death join agentdump_signatures as signature on signature.id = death.signature
     where signature.issue = $1 and death.at > now() - interval '${recentMinutes} minutes'`,
    [issue],
  );
  return { count: row?.count ?? 0, hosts: row?.hosts ?? 0 };
}

async function note(query: Query, issue: string, { kind, occasion, text }: Alert): Promise<void> {
  await query(
    'insert into agentdump_alerts (issue, kind, occasion, text) values ($1, $2, $3, $4) on conflict do nothing',
    [issue, kind, occasion, text],
  );
}

/** The oldest alert that was neither posted nor claimed. */
async function claim(query: Query): Promise<(Alert & { issue: string }) | undefined> {
  const [row] = await query<{ issue: string; kind: AlertKind; occasion: string; text: string }>(
    `update agentdump_alerts set claimed_at = now() where (issue, kind, occasion) in (
       select issue, kind, occasion from agentdump_alerts
       where told_at is null and (claimed_at is null or claimed_at < now() - interval '${claimMinutes} minutes')
       order by made_at limit 1 for update skip locked)
     returning issue, kind, occasion, text`,
  );
  return row;
}
