import { isIP } from 'node:net';

/** Where a program finds itself or a machine beside it: there is nobody in between. */
const LOCAL_NAME =
  /(^|\.)(localhost|local|lan|home|corp|intranet|internal|svc|test|example|invalid|docker|consul)$|(^|\.)example\.(com|org|net)$/i;

const LOCAL_IP =
  /^(0\.|10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;
/** Loopback, every interface, the metadata service of clouds, documentation, broadcast, and resolvers known by address. */
const NOT_A_MACHINE =
  /^(0\.|127\.|169\.254\.169\.254$|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|255\.|22[4-9]\.|23\d\.|1\.1\.1\.1$|1\.0\.0\.1$|8\.8\.8\.8$|8\.8\.4\.4$|9\.9\.9\.9$)/;

/**
 * The host that a text which begins like a URL names; undefined if it is none, or goes on where the text ends.
 *
 * `isWhole`: nothing follows the text.
 */
export function hostOf(text: string, isWhole: boolean): string | undefined {
  const match = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@\s]*@)?(\[[^\]\s]*\]|[^/?#:\s\\]*)(.?)/i.exec(text);
  const [, host = '', next = ''] = match ?? [];
  return host === '' || (next === '' && !isWhole) ? undefined : host.toLowerCase();
}

/** Whether a host is this machine, one of a private network, or made up for an example. */
export function isLocal(host: string): boolean {
  if (isIP(host) === 4) return LOCAL_IP.test(host) || NOT_A_MACHINE.test(host);
  return host.startsWith('[') || !host.includes('.') || LOCAL_NAME.test(host);
}

/** Whether a host is the number of some machine that could as well have another one tomorrow. */
export const isFixedMachine = (host: string): boolean => isIP(host) === 4 && !NOT_A_MACHINE.test(host);
