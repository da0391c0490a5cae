/** After bundles were stored: applies AGENTDUMP_STORE_KEEP, and reports what is new to AGENTDUMP_ALERTS. */
import type { SentBundle } from '../../model/fleet/issue.ts';
import { tellAlerts } from '../alerts/alerts.ts';
import { webhookOf } from '../alerts/webhook.ts';
import type { Store } from '../open-store.ts';
import { keptBundles, removeSurplus } from '../retention.ts';

/** Throws `usage` for invalid variables, and for problems of the store itself. */
export async function settleStore(
  store: Store,
  sent: readonly SentBundle[],
  note: (sentence: string) => void,
): Promise<void> {
  const stored = sent.filter(({ outcome }) => outcome === 'stored');
  const keep = keptBundles(process.env);
  const bundles = stored.flatMap(({ bundle }) => (bundle ? [bundle] : []));
  if (keep !== undefined) await removeSurplus(store, bundles, keep);
  const { AGENTDUMP_ALERTS: url, AGENTDUMP_ALERT_FORM: form } = process.env;
  if (!url) return;
  const issues = stored.flatMap(({ issue }) => (issue ? [issue] : []));
  try {
    await tellAlerts(store, webhookOf(url, form || undefined), new Set(issues));
  } catch (error) {
    // The bundles are stored; the alert is sent with the next ones.
    note(error instanceof Error ? error.message : String(error));
  }
}
