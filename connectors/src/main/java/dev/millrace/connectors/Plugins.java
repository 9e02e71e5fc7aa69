package dev.millrace.connectors;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;

/**
 * What jars bring that Millrace does not know: factories that are {@linkplain ServiceLoader services}. One that cannot be loaded is logged, and
 * is no reason not to have the others.
 */
final class Plugins {
    private static final System.Logger LOG = System.getLogger(Plugins.class.getPackageName());

    private Plugins() {}

    /**
     * All factories of a kind.
     *
     * @param name by which statements name one
     * @param known names that are Millrace's own: a factory of such a name is left out
     */
    static <T> List<T> of(Class<T> kind, Function<T, String> name, Collection<String> known) {
        List<T> all = new ArrayList<>();
        for (ServiceLoader.Provider<T> provider : providers(kind)) {
            try {
                T factory = provider.get();
                if (known.contains(name.apply(factory))) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "{0} is left out: the name {1} is another''s",
                            provider.type().getName(),
                            name.apply(factory));
                } else {
                    all.add(factory);
                }
            } catch (ServiceConfigurationError | LinkageError e) {
                LOG.log(System.Logger.Level.WARNING, "a plugin cannot be loaded: " + e.getMessage());
            }
        }
        return all;
    }

    private static <T> List<ServiceLoader.Provider<T>> providers(Class<T> kind) {
        List<ServiceLoader.Provider<T>> all = new ArrayList<>();
        var providers = ServiceLoader.load(kind).stream().iterator();
        while (true) {
            try {
                if (!providers.hasNext()) {
                    return all;
                }
                all.add(providers.next());
            } catch (ServiceConfigurationError e) { // one whose class is not there; the next call goes on behind it
                LOG.log(System.Logger.Level.WARNING, "a plugin cannot be loaded: " + e.getMessage());
            }
        }
    }
}
