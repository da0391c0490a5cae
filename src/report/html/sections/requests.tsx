/** The requests that were being processed; the one whose work died is marked. */
import type { Account } from '../../../model/account.ts';
import { requestText } from '../../../model/origin.ts';
import { Chip, CutList } from '../parts/small.tsx';

export function Requests({ account: { requests = [] } }: { account: Account }) {
  return (
    <ul class="requests">
      <CutList
        items={requests}
        most={20}
        what="requests"
        draw={(request, n) => (
          <li key={n} dir="auto">
            {request.culprit ? <Chip tone="bad">died</Chip> : null} {requestText(request)}
          </li>
        )}
      />
    </ul>
  );
}
