/** Threads of a core with their registers and the addresses of their frames, each a link into memory. */
import type { ThreadRegisters } from '../../../model/core-memory.ts';
import { hrefTo } from '../heap/place.ts';

export function Threads({ threads }: { threads: readonly ThreadRegisters[] }) {
  return (
    <ul class="memory-threads">
      {threads.map(({ id, name, crashed, registers, frames }, n) => (
        <li key={id}>
          <details open={n === 0}>
            <summary data-item tabIndex={0}>
              {name} <span class="faint">{id}</span>
              {crashed ? <span class="chip chip-bad">died here</span> : null}
            </summary>
            <div class="sides">
              <div>
                <h3>Frames</h3>
                <ol class="memory-frames">
                  {frames.map(({ function: own, address }, at) => (
                    <li key={at}>
                      <Address at={address} /> <code title={own}>{own}</code>
                    </li>
                  ))}
                </ol>
                {frames.length === 0 ? <p class="faint">No frame was found.</p> : null}
              </div>
              <div>
                <h3>Registers</h3>
                <dl class="registers">
                  {registers.map(({ name: register, value }) => (
                    <div key={register}>
                      <dt>
                        <code>{register}</code>
                      </dt>
                      <dd>
                        <Address at={value} />
                      </dd>
                    </div>
                  ))}
                </dl>
              </div>
            </div>
          </details>
        </li>
      ))}
    </ul>
  );
}

/** Smaller numbers, and those beyond user space, are no addresses. */
const isAddress = (at: string): boolean => at.length > 6 && at.length <= 14;

function Address({ at }: { at: string }) {
  return isAddress(at) ? (
    <a href={hrefTo({ at })} data-item>
      <code>{at}</code>
    </a>
  ) : (
    <code>{at}</code>
  );
}
