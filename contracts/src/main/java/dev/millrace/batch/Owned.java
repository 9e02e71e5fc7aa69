package dev.millrace.batch;

import java.util.ArrayList;
import java.util.List;

/** What somebody made and closes together; closing it again has no effect. One thread. */
public final class Owned implements AutoCloseable {
    private final List<AutoCloseable> resources = new ArrayList<>();

    /** Takes it over; gives it back to be used. */
    public <T extends AutoCloseable> T own(T resource) {
        resources.add(resource);
        return resource;
    }

    /** Leaves a resource to who takes it from here. */
    public void disown(AutoCloseable resource) {
        resources.removeIf(one -> one == resource);
    }

    /** Closes all, in the order they were taken over; see {@link Closing#all}. */
    @Override
    public void close() {
        List<AutoCloseable> all = List.copyOf(resources);
        resources.clear();
        Closing.all(all);
    }
}
