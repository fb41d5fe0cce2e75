import { BlockList } from "node:net";
import { isAddress } from "./hostPattern.js";

/** Addresses that are not on the public internet, or that reach the machine itself. */
const NOT_PUBLIC_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier-grade NAT; also the metadata service of Alibaba Cloud
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // link-local; metadata services of most clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["168.63.129.16", 32], // the host of a virtual machine in Azure, which has a public address
];
/** The only part of IPv6 that is in public use. */
const PUBLIC_V6 = ["2000::", 3] as const;
const NOT_PUBLIC_V6: readonly (readonly [string, number])[] = [
  ["2001::", 23], // Teredo, benchmarking and others
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4: contains an IPv4 address of any kind
  ["3fff::", 20],
];
/** Prefixes whose last 32 bits are an IPv4 address: mapped ones, and those of NAT64. */
const EMBEDS_V4: readonly RegExp[] = [
  /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/,
  /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/,
];

const blocked = new BlockList();
const publicV6 = new BlockList();
for (const [address, prefix] of NOT_PUBLIC_V4) blocked.addSubnet(address, prefix, "ipv4");
for (const [address, prefix] of NOT_PUBLIC_V6) blocked.addSubnet(address, prefix, "ipv6");
publicV6.addSubnet(...PUBLIC_V6, "ipv6");

/** Whether a canonical address is on the public internet. `false` for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  if (!isAddress(address)) return false;
  if (!address.includes(":")) return !blocked.check(address, "ipv4");
  const embedded = embeddedV4(address);
  if (embedded !== undefined) return isPublicAddress(embedded);
  return publicV6.check(address, "ipv6") && !blocked.check(address, "ipv6");
}

function embeddedV4(address: string): string | undefined {
  for (const pattern of EMBEDS_V4) {
    const [, high, low] = pattern.exec(address) ?? [];
    if (high === undefined || low === undefined) continue;
    const bits = [high, low].map((group) => Number.parseInt(group, 16));
    return bits.flatMap((group) => [group >> 8, group & 0xff]).join(".");
  }
  return undefined;
}
