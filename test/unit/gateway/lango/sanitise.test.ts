import { describe, expect, it } from 'vitest';
import { redactPaths } from '../../../../gateway/lango/firewall/redact-paths.ts';
import { sanitise } from '../../../../gateway/lango/firewall/sanitise.ts';
import type { JsonValue } from '../../../../runtime/protocol/json-value.ts';

describe('The sanitiser (L-21, L-22)', () => {
  it.each([
    ...[
      'token',
      'Token',
      'access_token',
      'sessionToken',
      'refresh-token',
      'authtoken',
      'TOKEN',
      'ｔｏｋｅｎ',
    ],
    ...['password', 'userPassword', 'passwd', 'passphrase', 'client_secret', 'secretKey', 'secrets'],
    ...['private_key', 'privateKey', 'api_key', 'apiKey', 'db_path', 'dbPath', 'file_path', 'filePath'],
    ...['internal_id', 'internalId', '_internal', 'token_type', 'tokenValue', 'tokens'],
  ])('removes %s', (name) => {
    expect(sanitise({ [name]: 'x', a: 1 })).toEqual({ value: { a: 1 }, removed: [name] });
  });

  it.each<Record<string, JsonValue>>([
    { tokenCount: 3 },
    { maxTokens: 100 },
    { usage: { tokens: 5, total_tokens: 12 } },
    { tokens: { prompt: 1, completion: 2 } },
    { tokensByDay: [1, 2, 3] },
    { tokenizer: 'bpe' },
    { secretary: 'Anna' },
    { internal: true },
    { internals: 'x' },
    { path: 'docs/lango.md' },
    { author: 'x', monkey: 'y', passport: 'z' },
  ])('leaves %j as it is', (value) => {
    expect(sanitise(value)).toEqual({ value, removed: [] });
  });

  it.each<Record<string, JsonValue>>([
    { token: 123_456 },
    { tokens: ['x'] },
    { tokens: { used: 1, last: 'x' } },
  ])('removes %j, which is no count', (value) => {
    expect(sanitise(value).value).toEqual({});
  });

  it('looks at any depth, in lists too, and says where', () => {
    const value = {
      users: [{ name: 'a', token: 'x' }, [{ deep: { password: 'y' } }]],
      note: 'in /etc/passwd',
    };
    expect(sanitise(value)).toEqual({
      value: { users: [{ name: 'a' }, [{ deep: {} }]], note: 'in [path-redacted]' },
      removed: ['users[0].token', 'users[1][0].deep.password', 'note'],
    });
  });

  it('leaves out names that would become a prototype, or are paths', () => {
    const value = JSON.parse('{"__proto__":{"x":1},"constructor":1,"/home/alice/a.txt":2}') as JsonValue;
    const { value: clean, removed } = sanitise(value);
    expect(Object.keys(clean as object)).toEqual(['constructor']);
    expect(Object.getPrototypeOf(clean)).toBe(Object.prototype);
    expect(removed).toEqual(['__proto__', '(a path)']);
  });

  it('refuses what is too deep or too large, and tells of so many removals', () => {
    let deep: JsonValue = 1;
    for (let n = 0; n < 65; n++) deep = [deep];
    expect(() => sanitise(deep)).toThrow('too deep or too large');
    expect(() => sanitise(Array.from({ length: 100_001 }, () => 1))).toThrow('too deep or too large');
    expect(sanitise(Array.from({ length: 500 }, () => ({ token: 'x' }))).removed).toHaveLength(100);
  });

  it('does not change what it was given', () => {
    const value = { a: [{ token: 'x' }] };
    sanitise(value);
    expect(value).toEqual({ a: [{ token: 'x' }] });
  });
});

describe('Paths in texts', () => {
  it.each([
    ['/home/alice/notes.txt', '[path-redacted]'],
    ['/home/Alice Smith/my notes.txt', '[path-redacted]'],
    ['/data/projects/x', '[path-redacted]'],
    ['see /etc/passwd.', 'see [path-redacted]'],
    ["ENOENT: no such file, open '/home/Alice Smith/x'", "ENOENT: no such file, open '[path-redacted]'"],
    ['at run (/srv/app/main.js:1:2)', 'at run ([path-redacted]:1:2)'],
    ['path:/var/lib/db', 'path:[path-redacted]'],
    ['C:\\Users\\alice\\x.txt', '[path-redacted]'],
    ['C:\\Program Files\\x', '[path-redacted]'],
    ['open "D:\\a b\\c" failed', 'open "[path-redacted]" failed'],
    ['c:/windows/system32 is', '[path-redacted] is'],
    ['\\\\server\\share\\x', '[path-redacted]'],
    ['\\\\?\\C:\\x', '[path-redacted]'],
    ['file:///home/alice/x y', '[path-redacted] y'],
    ['//home/alice/x', '[path-redacted]'],
  ])('%s becomes %s', (text, expected) => {
    expect(redactPaths(text)).toBe(expected);
  });

  it.each([
    'https://example.com/a/b/c',
    'see http://127.0.0.1:80/api/v1/users?x=1',
    'ws://host/etc/x/y',
    'docs/lango.md and ./a/b/c and ../a/b/c',
    'and/or/not/both',
    '1/2/3/4',
    '/help',
    '/users/5',
    '/lango',
    'a \\ b',
    '2026/01/02/03',
  ])('%s stays', (text) => {
    expect(redactPaths(text)).toBe(text);
  });

  it.each(['/', "'/", '/a', '\\', '\\\\a', 'C:/', 'file:/', '/home ', 'a/'])(
    'are looked for in one pass through a text of many %j',
    (part) => {
      const text = part.repeat(200_000);
      expect(redactPaths(text).length).toBeGreaterThan(0);
    },
  );
});
