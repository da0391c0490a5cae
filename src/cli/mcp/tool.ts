/** One question that an assistant can ask. Its answer is a text from the bundle, or one of our own, and the same as data. */

import type { AllowedBundles } from './allowed-bundles.ts';
import type { ObjectSchema } from './output-schema.ts';

export interface InputField {
  type: 'string' | 'integer' | 'boolean';
  description: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: string | number | boolean;
}

export interface ToolInput {
  fields: Record<string, InputField>;
  required?: string[];
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  input: ToolInput;
  /** Offered only if the server was started with a store. */
  needsStore?: boolean;
  /** JSON Schema of the answer's `data`. */
  output: ObjectSchema;
  answer(words: ToolWords, allowed: AllowedBundles): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  text: string;
  data: object;
}

/** Validated against `input` before they are passed to the tool. */
export type ToolWords = Readonly<Record<string, unknown>>;

export const bundleField: InputField = {
  type: 'string',
  description: '"latest", a name, or the first digits of an id',
  default: 'latest',
  maxLength: 1000,
};

export const textOf = (words: ToolWords, name: string): string | undefined =>
  typeof words[name] === 'string' ? words[name] : undefined;
export const bundleOf = (words: ToolWords): string => textOf(words, 'bundle') ?? 'latest';
export const countOf = (words: ToolWords, name: string, otherwise: number): number =>
  typeof words[name] === 'number' ? words[name] : otherwise;
