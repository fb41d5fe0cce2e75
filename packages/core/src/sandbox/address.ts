import { isIPv4, isIPv6 } from "node:net";

/** The kind of an address. Only `public` ones are connected to without permission. */
export type AddressKind = "public" | "loopback" | "private" | "link-local" | "metadata" | "reserved";

type Range = readonly [address: string, prefixLength: number, kind: AddressKind];

// The special-purpose registries of IANA. The first range that contains an address applies.
const IPV4: readonly Range[] = [
  // The metadata services of clouds. Most are link-local; these are the others.
  ["168.63.129.16", 32, "metadata"],
  ["100.100.100.200", 32, "metadata"],
  ["192.0.0.192", 32, "metadata"],
  ["169.254.0.0", 16, "link-local"],
  ["127.0.0.0", 8, "loopback"],
  ["0.0.0.0", 8, "reserved"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "private"],
  ["172.16.0.0", 12, "private"],
  ["192.168.0.0", 16, "private"],
  // Benchmarking, and the answer of some VPN clients for every name.
  ["198.18.0.0", 15, "private"],
  ["192.0.0.0", 24, "reserved"],
  ["192.0.2.0", 24, "reserved"],
  ["192.88.99.0", 24, "reserved"],
  ["198.51.100.0", 24, "reserved"],
  ["203.0.113.0", 24, "reserved"],
  ["224.0.0.0", 3, "reserved"],
];

// Only 2000::/3 is in use for public addresses, so everything outside of it is reserved.
const IPV6: readonly Range[] = [
  // Besides the metadata service, this network of AWS has the one that gives pods their credentials.
  ["fd00:ec2::", 32, "metadata"],
  ["fd20:ce::254", 128, "metadata"],
  ["::1", 128, "loopback"],
  ["fc00::", 7, "private"],
  ["fe80::", 10, "link-local"],
  ["fec0::", 10, "private"],
  // Teredo and other protocol assignments, documentation, 6to4: none is a web server's own address.
  ["2001::", 23, "reserved"],
  ["2001:db8::", 32, "reserved"],
  ["2002::", 16, "reserved"],
  ["3fff::", 20, "reserved"],
  ["2000::", 3, "public"],
];

/** Prefixes of 96 bits before an IPv4 address: mapped (`::ffff:127.0.0.1`), and NAT64, which IPv6-only networks use. */
const EMBEDDED = ["::ffff:0:0", "64:ff9b::"].map((prefix) => parseIPv6(prefix).slice(0, 12).join("."));

const RANGES = {
  4: IPV4.map(([address, length, kind]) => ({ bytes: parseIPv4(address), length, kind })),
  6: IPV6.map(([address, length, kind]) => ({ bytes: parseIPv6(address), length, kind })),
};

/** Classifies an IP address in any notation that sockets accept. What is not an address is `reserved`. */
export function addressKind(address: string): AddressKind {
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  const [plain = ""] = address.split("%");
  if (isIPv4(plain)) return find(parseIPv4(plain), RANGES[4], "public");
  if (!isIPv6(plain)) return "reserved";
  const bytes = parseIPv6(plain);
  if (EMBEDDED.includes(bytes.slice(0, 12).join("."))) return find(bytes.slice(12), RANGES[4], "public");
  return find(bytes, RANGES[6], "reserved");
}

/** Whether an address is on the public internet. `false` for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  return addressKind(address) === "public";
}

function find(
  bytes: readonly number[],
  ranges: readonly {
    readonly bytes: readonly number[];
    readonly length: number;
    readonly kind: AddressKind;
  }[],
  otherwise: AddressKind,
): AddressKind {
  return ranges.find((range) => hasPrefix(bytes, range.bytes, range.length))?.kind ?? otherwise;
}

function hasPrefix(bytes: readonly number[], prefix: readonly number[], length: number): boolean {
  return bytes.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, length - index * 8));
    return byte >> (8 - bits) === (prefix[index] ?? 0) >> (8 - bits);
  });
}

function parseIPv4(address: string): number[] {
  return address.split(".").map(Number);
}

function parseIPv6(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  return [...front, ...Array<number>(16 - front.length - back.length).fill(0), ...back];
}

function groups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return parseIPv4(group);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
