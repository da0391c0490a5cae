/** All shapes, by family. Order matters only between shapes with the same start: the first match wins. */
import { cloudShapes } from './clouds.ts';
import { codeHostShapes } from './code-hosts.ts';
import { dataShapes } from './data-and-watching.ts';
import { standardShapes } from './keys-and-tokens.ts';
import { messageShapes } from './messages.ts';
import { modelShapes } from './models.ts';
import { moneyShapes } from './money.ts';
import type { Shape } from './shape.ts';

export function allShapes(): Shape[] {
  return [
    ...modelShapes(),
    ...cloudShapes(),
    ...codeHostShapes(),
    ...messageShapes(),
    ...moneyShapes(),
    ...dataShapes(),
    ...standardShapes(),
  ];
}
