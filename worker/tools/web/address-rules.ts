// Which addresses web tools may reach: public unicast, and what the configuration names beside that. Judged on addresses,
// never on names or spellings, so that no way of writing an address gets around it.
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

export interface AddressRules {
  /** Whether a connection to this address, for a URL with this host, may be made. */
  allows(host: string, address: string): boolean;
}

/** Global unicast; everything else of IPv6 is local, reserved, or another address in disguise. */
const GLOBAL_V6: Range = ipaddr.parseCIDR('2000::/3');

/** `allowPrivate`: host names, addresses, and ranges as CIDR. */
export function addressRules(allowPrivate: readonly string[]): AddressRules {
  const hosts = new Set<string>();
  const ranges: Range[] = [];
  for (const entry of allowPrivate) {
    const range = rangeOf(entry);
    if (range === null) hosts.add(plainHost(entry));
    else ranges.push(range);
  }
  return {
    allows: (host, text) => {
      if (!ipaddr.isValid(text)) return false;
      // An IPv4 address in IPv6 clothes is judged as what it is.
      const address = ipaddr.process(text);
      if (ranges.some((range) => within(address, range))) return true;
      return hosts.has(plainHost(host)) ? isReachable(address) : isPublic(address);
    },
  };
}

/** Lower case, without the brackets of IPv6 and the dot of the root zone. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function rangeOf(entry: string): Range | null {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry)) return null;
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function within(address: Address, [start, bits]: Range): boolean {
  return address.kind() === start.kind() && address.match(start, bits);
}

function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || within(address, GLOBAL_V6));
}

/** For a host that is allowed by name: everything but what is no single machine. */
function isReachable(address: Address): boolean {
  return !['multicast', 'broadcast', 'unspecified'].includes(address.range());
}
