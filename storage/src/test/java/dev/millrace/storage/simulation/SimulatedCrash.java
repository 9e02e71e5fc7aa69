package dev.millrace.storage.simulation;

/** Ends the simulated process where it is: nothing catches it but the simulation. */
public final class SimulatedCrash extends Error {
    private static final long serialVersionUID = 1L;

    public SimulatedCrash() {
        super("the process was killed", null, false, false);
    }
}
