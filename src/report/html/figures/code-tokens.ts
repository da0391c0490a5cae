/**
 * Splits one line of JavaScript or TypeScript into coloured tokens. Uses only the line itself: a template or a comment that
 * began above is not recognised, and regular expressions are detected heuristically. Pure, one pass.
 */

export type TokenKind = 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'call';

export interface Token {
  kind: TokenKind;
  text: string;
}

const pattern =
  /(?<comment>\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*.*)|(?<string>"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|`(?:\\.|[^`\\])*`?)|(?<number>\b(?:0[xXoObB][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)n?\b)|(?<keyword>(?<!\.)\b(?:abstract|as|async|await|break|case|catch|class|const|continue|default|delete|do|else|enum|export|extends|false|finally|for|from|function|get|if|implements|import|in|instanceof|interface|let|new|null|of|private|protected|public|readonly|return|satisfies|set|static|super|switch|this|throw|true|try|type|typeof|undefined|var|void|while|yield)\b)|(?<call>\b[\p{L}_$][\p{L}\p{N}_$]*(?=\())/gu;

/** Longer lines are minified code, for which colours would be slow and useless. */
const longest = 2000;

export function tokensOf(line: string): Token[] {
  if (line.length > longest) return [{ kind: 'plain', text: line }];
  const tokens: Token[] = [];
  let at = 0;
  for (const match of line.matchAll(pattern)) {
    if (match.index > at) tokens.push({ kind: 'plain', text: line.slice(at, match.index) });
    const [kind = 'plain'] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    tokens.push({ kind: kind as TokenKind, text: match[0] });
    at = match.index + match[0].length;
  }
  if (at < line.length) tokens.push({ kind: 'plain', text: line.slice(at) });
  return tokens;
}
