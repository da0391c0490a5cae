/**
 * Posts an alert to a webhook: as JSON, or in Slack's form, which Mattermost and Discord (`/slack`) accept too. Source of
 * that form: Slack, "Sending messages using incoming webhooks".
 */
import { AgentdumpError } from '../../errors.ts';
import type { IssueStory } from '../../model/fleet/issue.ts';
import type { Alert } from './due.ts';

export type WebhookForm = 'json' | 'slack';

export interface Webhook {
  url: string;
  form: WebhookForm;
}

const mostMs = 10_000;

/** @throws AgentdumpError `usage` for an invalid http URL or an unknown form. */
export function webhookOf(url: string, form: string | undefined): Webhook {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new AgentdumpError('usage', 'AGENTDUMP_ALERTS is no http address', {
      argument: 'AGENTDUMP_ALERTS',
    });
  const isSlack = parsed.hostname === 'hooks.slack.com' || parsed.pathname.endsWith('/slack');
  const wanted = form ?? (isSlack ? 'slack' : 'json');
  if (wanted === 'json' || wanted === 'slack') return { url, form: wanted };
  throw new AgentdumpError('usage', `AGENTDUMP_ALERT_FORM is json or slack, not ${form}`, {
    argument: 'AGENTDUMP_ALERT_FORM',
  });
}

/** @throws AgentdumpError `unwritable` if it was not accepted. The URL is a secret: the message contains only its host. */
export async function postAlert({ url, form }: Webhook, alert: Alert, story: IssueStory): Promise<void> {
  const body = form === 'slack' ? slackBody(alert, story) : jsonBody(alert, story);
  const { host } = new URL(url);
  let status: number;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(mostMs),
    });
    status = response.status;
    await response.body?.cancel();
  } catch (error) {
    const { cause, name } = error as { cause?: { code?: string; message?: string }; name?: string };
    throw refused(host, cause?.code ?? cause?.message ?? name ?? 'no answer');
  }
  if (status < 200 || status > 299) throw refused(host, `status ${status}`);
}

function refused(host: string, reason: string): AgentdumpError {
  return new AgentdumpError('unwritable', `the webhook at ${host} did not take an alert: ${reason}`, {
    path: host,
    reason,
  });
}

function jsonBody({ kind, text }: Alert, story: IssueStory): object {
  const { id, title, status, count, firstSeen, lastSeen, firstRelease, lastRelease, rate, because } = story;
  const [newest] = story.deaths;
  return {
    schema: 'agentdump.alert/1',
    kind,
    text,
    issue: { id, title, status, count, firstSeen, lastSeen, firstRelease, lastRelease, rate, because },
    ...(newest && {
      newest: { bundle: newest.bundle, at: newest.at, host: newest.host, program: newest.program },
    }),
  };
}

function slackBody({ text }: Alert, { id, count, lastSeen, programs }: IssueStory): object {
  const program = programs[0]?.name;
  const where = program === undefined ? '' : `${program} · `;
  return {
    text: escapeSlack(
      `${text}\n${where}${count} ${count === 1 ? 'death' : 'deaths'}, the last ${lastSeen} · agentdump issues show ${id.slice(0, 8)}`,
    ),
  };
}

/** The three characters that Slack requires to be escaped; otherwise a title could mention everybody. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
