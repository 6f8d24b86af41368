import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { invalidOptions } from '../../runtime/protocol/errors.ts';

/**
 * The certificate of a server, as PEM text.
 *
 * - `key`         private, of the certificate.
 * - `cert`        certificate, with those of the authorities between it and one that callers know.
 * - `ca`          who must have signed callers' certificates.
 * - `requestCert` callers without such a certificate are not let in; needs `ca`. @default false
 */
export interface TlsOptions {
  readonly key: string | Uint8Array;
  readonly cert: string | Uint8Array;
  readonly ca?: string | Uint8Array;
  readonly requestCert?: boolean;
}

/**
 * The options as node:https takes them. `field` is what they are called. Throws INVALID_OPTIONS naming the one that is no good,
 * and never its text.
 */
export function tlsMaterial({ key, cert, ca, requestCert = false }: TlsOptions, field = 'tls') {
  const privateKey = read(`${field}.key`, key, 'a private key as PEM text', createPrivateKey);
  const certificate = read(
    `${field}.cert`,
    cert,
    'a certificate as PEM text',
    (pem) => new X509Certificate(pem),
  );
  if (!certificate.checkPrivateKey(privateKey as KeyObject))
    throw invalidOptions(`${field}.key`, 'a private key', `the one that ${field}.cert was made for`);
  if (ca !== undefined)
    read(`${field}.ca`, ca, 'certificates as PEM text', (pem) => new X509Certificate(pem));
  if (requestCert && ca === undefined)
    throw invalidOptions(`${field}.ca`, ca, 'who signs the certificates of callers, with requestCert');
  return {
    key: textOf(key),
    cert: textOf(cert),
    ...(ca === undefined ? {} : { ca: textOf(ca) }),
    requestCert,
    rejectUnauthorized: requestCert,
  };
}

function read<Read>(field: string, pem: unknown, expected: string, parse: (pem: string) => Read): Read {
  try {
    return parse(textOf(pem as string));
  } catch {
    throw invalidOptions(field, pem === undefined ? pem : 'something else', expected);
  }
}

const textOf = (pem: string | Uint8Array): string =>
  typeof pem === 'string' ? pem : Buffer.from(pem).toString('latin1');
