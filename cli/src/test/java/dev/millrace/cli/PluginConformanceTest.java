package dev.millrace.cli;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.testing.connector.GivenSourceConformance;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The source of the example of a plugin goes on where it was, as its documentation says. */
@Tag("long")
class PluginConformanceTest extends GivenSourceConformance {
    @TempDir
    Path folder;

    private URLClassLoader plugin;

    @BeforeEach
    void load() throws IOException {
        plugin = new URLClassLoader(new URL[] {PluginJar.make(folder).toUri().toURL()});
    }

    @AfterEach
    void unload() throws IOException {
        plugin.close();
    }

    @Override
    protected Source source() {
        SourceFactory factory = ServiceLoader.load(SourceFactory.class, plugin).stream()
                .map(ServiceLoader.Provider::get)
                .filter(each -> each.name().equals("random_walk"))
                .findFirst()
                .orElseThrow();
        return factory.create(new Schema(List.of()), new Options(Map.of("rows", "500")));
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}
