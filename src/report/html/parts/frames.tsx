/** A stack: the program's own frames with code and variables, those of others folded together. */
import { useSignal } from '@preact/signals';
import { placeOf, shortFile } from '../../../model/frame-text.ts';
import { formatCount } from '../../../model/quantities.ts';
import type { Frame } from '../../../model/thread.ts';
import { isPrinting, isUnfolded, target, unfold } from '../state.ts';
import { Code } from './code.tsx';
import { frameRows, type NumberedFrame } from './frame-rows.ts';
import { Locals } from './locals.tsx';
import { Chip } from './small.tsx';

interface FramesProps {
  frames: readonly Frame[];
  /** `<prefix>-<n>` is a frame's anchor, n from 1. */
  prefix: string;
  cwd: string | undefined;
  /** The frame that is initially open. */
  opened?: Frame | undefined;
}

const mostAtFirst = 80;

export function Frames({ frames, prefix, cwd, opened }: FramesProps) {
  const isWhole = useSignal(false);
  const wanted = Number(new RegExp(`^${prefix.replace(/\W/g, '\\$&')}-(\\d+)$`).exec(target.value)?.[1] ?? 0);
  const all = isWhole.value || wanted > mostAtFirst;
  const rows = frameRows(all ? frames : frames.slice(0, mostAtFirst));
  return (
    <div class="frames">
      {rows.map((row) =>
        'frames' in row ? (
          <Folded key={row.frames[0]!.number} row={row} prefix={prefix} cwd={cwd} wanted={wanted} />
        ) : (
          <FrameRow key={row.number} row={row} prefix={prefix} cwd={cwd} byDefault={row.frame === opened} />
        ),
      )}
      {!all && frames.length > mostAtFirst ? (
        <button
          type="button"
          class="more more-rows"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          {formatCount(frames.length - mostAtFirst, 'more frame')}
        </button>
      ) : null}
    </div>
  );
}

interface FoldedProps {
  row: { frames: NumberedFrame[]; text: string };
  prefix: string;
  cwd: string | undefined;
  wanted: number;
}

function Folded({ row: { frames, text }, prefix, cwd, wanted }: FoldedProps) {
  const id = `${prefix}-fold-${frames[0]!.number}`;
  const isOpen = isUnfolded(id) || frames.some(({ number }) => number === wanted);
  if (isOpen)
    return (
      <>
        {frames.map((row) => (
          <FrameRow key={row.number} row={row} prefix={prefix} cwd={cwd} byDefault={false} />
        ))}
      </>
    );
  return (
    <button type="button" class="fold" data-item onClick={() => unfold(id, true)}>
      {text}
    </button>
  );
}

interface FrameRowProps {
  row: NumberedFrame;
  prefix: string;
  cwd: string | undefined;
  byDefault: boolean;
}

function FrameRow({ row: { frame, number }, prefix, cwd, byDefault }: FrameRowProps) {
  const id = `${prefix}-${number}`;
  const hasMore = Boolean(frame.source?.length || frame.locals?.length || frame.generated || frame.address);
  const head = <FrameHead frame={frame} number={number} cwd={cwd} />;
  const name = `frame-row${frame.inApp ? ' in-app' : ''}${target.value === id ? ' targeted' : ''}`;
  if (!hasMore)
    return (
      <div id={id} class={name} tabIndex={-1} data-item>
        {head}
      </div>
    );
  // On paper, frames of Node and of packages take one line each, as on the screen.
  const isOpen = isUnfolded(id, byDefault, frame.inApp);
  return (
    <details id={id} class={name} open={isOpen} onToggle={(event) => noteToggle(event, id, byDefault)}>
      <summary data-item>{head}</summary>
      {isOpen ? <FrameBody frame={frame} cwd={cwd} id={id} /> : null}
    </details>
  );
}

function noteToggle(
  event: Event & { currentTarget: HTMLDetailsElement },
  id: string,
  byDefault: boolean,
): void {
  const { open } = event.currentTarget;
  if (!isPrinting.value && open !== isUnfolded(id, byDefault)) unfold(id, open);
}

function FrameHead({ frame, number, cwd }: { frame: Frame; number: number; cwd: string | undefined }) {
  const place = placeOf(frame, cwd) ?? frame.module?.split('/').at(-1) ?? frame.address ?? '';
  return (
    <span class="frame-head">
      <span class="frame-number">{number}</span>
      <span class="frame-name" title={frame.function}>
        {frame.async ? <span class="async">async </span> : null}
        {shortName(frame) ?? <span class="faint">(anonymous)</span>}
      </span>
      <span class="frame-place" title={frame.module}>
        {place}
      </span>
      {frame.inlined ? <Chip>inlined</Chip> : null}
      {frame.trust === 'scan' ? <Chip tone="warn">found by scanning</Chip> : null}
    </span>
  );
}

/** Without the parameter types of a C++ name, which are longer than any line. */
function shortName({ function: name, address }: Frame): string | undefined {
  if (address !== undefined) return name?.replace(/\([^()]*\)(?: const)?$/, '()');
  return name?.replace(/^async /, '');
}

function FrameBody({ frame, cwd, id }: { frame: Frame; cwd: string | undefined; id: string }) {
  const { generated, address, module, tier } = frame;
  const origin = [
    generated && `running as ${shortFile(generated.file, cwd)}:${generated.line}:${generated.column}`,
    address && `at ${address}${module ? ` in ${module}` : ''}`,
    tier && `V8 ran it ${tier === 'interpreter' ? 'in its interpreter' : `as ${tier}`}`,
  ].filter(Boolean);
  return (
    <div class={frame.locals?.length ? 'frame-body with-locals' : 'frame-body'}>
      <Code frame={frame} label={`Source of ${id}`} />
      {frame.locals?.length ? <Locals locals={frame.locals} /> : null}
      {origin.length ? <p class="origin">{origin.join(' · ')}</p> : null}
    </div>
  );
}
