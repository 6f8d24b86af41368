/** What the packages are for that Orrery uses where they are installed. */
export const OPTIONAL_PACKAGES: Readonly<Record<string, string>> = {
  '@a2a-js/sdk': 'A2A over gRPC',
  '@ai-sdk/openai-compatible': 'agents that think with a model',
  '@bufbuild/protobuf': 'A2A over gRPC',
  '@grpc/grpc-js': 'A2A over gRPC',
  '@hono/node-server': 'serving over HTTP',
  '@modelcontextprotocol/client': 'mounting MCP servers',
  '@modelcontextprotocol/server': 'serving MCP',
  '@noble/curves': "XPR's keys and signatures",
  '@noble/hashes': "XPR's keys and signatures",
  '@scure/base': "XPR's keys and signatures",
  ai: 'agents that think with a model',
  canonicalize: 'signed cards',
  'fast-check': 'the search for failures in simulations',
  hono: 'serving over HTTP',
  'ipaddr.js': 'push notifications and remote agents',
  jose: 'JSON Web Tokens and signed cards',
};

/** Whether a package is there for this command. */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
