import { askYesNo } from "../../process/ask.js";
import { userPackagesDirectory } from "../../process/paths.js";
import { providerPackage } from "../../settings/providerCatalog.js";
import { installPackages } from "../packages/npm.js";

/**
 * Offers to install a provider that was named but is not installed. Without approval, the run fails and explains what
 * to do.
 */
export async function offerProvider(name: string): Promise<void> {
  const packageName = providerPackage(name);
  const question = `The provider ${name} is not installed. Install ${packageName} with npm, for your user only?`;
  if (await askYesNo(question)) await installPackages(userPackagesDirectory(), [packageName]);
}
