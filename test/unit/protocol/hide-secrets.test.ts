import { describe, expect, it } from 'vitest';
import { hideSecrets, hideSecretsIn } from '../../../runtime/protocol/hide-secrets.ts';

const SECRET = 'Zx9Qw8Er7Ty6Ui5Op4As3Df2';
const TEXTS: readonly string[] = [
  `401 for Authorization: Bearer ${SECRET}`,
  `password=${SECRET}`,
  `{"clientSecret": "${SECRET}", "id": 4}`,
  `OPENAI_API_KEY='${SECRET}'`,
  `connect postgres://team:${SECRET}@db.example/team failed`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.${SECRET}`,
  `the key sk-proj-${SECRET} is not known`,
  `ork_0123456789abcdef_${SECRET}`,
  `-----BEGIN RSA PRIVATE KEY-----\n${SECRET}\n-----END RSA PRIVATE KEY-----`,
];

describe('hideSecrets', () => {
  it.each(TEXTS)('hides the credential in %j', (text) => {
    const hidden = hideSecrets(text);
    expect(hidden).not.toContain(SECRET);
    expect(hidden).toContain('[hidden]');
  });

  it('leaves other texts as they are', () => {
    const texts = [
      'the token limit of 4096 tokens is passed',
      'mars: HANDLER_FAILED: nothing to halve',
      'a: b',
    ];
    expect(texts.map(hideSecrets)).toEqual(texts);
  });

  it('looks into fields, however deep', () => {
    expect(hideSecretsIn({ a: [{ reason: `token: ${SECRET}` }], n: 4 })).toEqual({
      a: [{ reason: 'token: [hidden]' }],
      n: 4,
    });
  });

  it('takes time in proportion to a long text', () => {
    const hostile = `${'password'.repeat(20_000)}${'-----BEGIN '.repeat(5_000)}${'://a'.repeat(20_000)}`;
    expect(hideSecrets(hostile)).toContain('password');
  });
});
