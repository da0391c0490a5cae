/**
 * What a resumable run's journal says (the frame of its records is that of journal/FORMAT.md). A call is known by its
 * key (a hash of what was asked, under the host's key where there is one) and by how many of the same key came before it. Payloads are JSON texts.
 */
export const resumeKinds = { reply: 1040, toolStart: 1041, toolEnd: 1042 } as const;

export interface CallKey {
  /** 32 hexadecimal digits. */
  key: string;
  /** 0 for the first call with this key. */
  turn: number;
}

export interface ReplyRecord extends CallKey {
  status: number;
  headers: [name: string, value: string][];
  /** Base64 when it is no UTF-8. */
  body: { text: string } | { base64: string };
}

export interface ToolStartRecord extends CallKey {
  name: string;
  arguments: unknown;
}

export interface ToolEndRecord extends CallKey {
  /** Absent for undefined. */
  result?: unknown;
  error?: { name: string; message: string };
}

/** What a record is in a run that is sealed: everything but the call, closed as JSON, in base64. */
export interface SealedRecord extends CallKey {
  sealed: string;
}
