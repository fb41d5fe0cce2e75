import { pathToFileURL } from "node:url";
import type { ProviderFactory } from "@agent/core";
import { errorMessage, isRecord, quote } from "@agent/core/toolkit";
import { CliError } from "../../process/errors.js";
import { resolvePack } from "../../settings/packs/resolve.js";
import { providerPackage } from "../../settings/providerCatalog.js";
import { trustedDirectories } from "../packs/trustedDirectories.js";

/**
 * Loads a provider by its name: from the project if its config is trusted, else from the user's own packages, else the
 * CLI's own. Throws a `CliError` that explains what to install.
 */
export async function loadFactory(name: string, projectFile: string | undefined): Promise<ProviderFactory> {
  const file = findProvider(name, projectFile);
  const packageName = providerPackage(name);
  if (file === undefined) throw new CliError(notInstalled(name));
  let module: { provider?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new CliError(
      `The provider ${quote(packageName)} could not be loaded: ${errorMessage(error)} Reinstall it: npm install ${packageName}`,
    );
  }
  const { provider } = module;
  if (isFactory(provider)) return provider;
  throw new CliError(
    `${quote(packageName)} is not a provider package: it has no export named "provider" with createProvider() and keyVariables.`,
  );
}

function isFactory(value: unknown): value is ProviderFactory {
  return isRecord(value) && typeof value.createProvider === "function" && Array.isArray(value.keyVariables);
}

/**
 * The file of a provider's package, or `undefined` if it is not installed. Packages of an untrusted project are
 * ignored.
 */
export function findProvider(name: string, projectFile: string | undefined): string | undefined {
  return resolvePack(providerPackage(name), trustedDirectories(projectFile))?.file;
}

function notInstalled(name: string): string {
  return `The provider ${quote(name)} is not installed. Run: npm install --global ${providerPackage(name)}, or without --global where the CLI is part of the project.`;
}
