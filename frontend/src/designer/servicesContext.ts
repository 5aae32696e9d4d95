import { createContext, useContext } from "react";
import type { DesignerServices } from "./services";

export const ServicesContext = createContext<DesignerServices | null>(null);

export function useServices(): DesignerServices {
  const services = useContext(ServicesContext);
  if (services === null)
    throw new Error("Parts of the designer need <Designer services> around them");
  return services;
}
