package dev.millrace.benchmarks.kafka;

import dev.millrace.benchmarks.Main;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The view of {@link KafkaCommand} in a process of Millrace and in one of Flink SQL, by turns, with the brokers in the process that
 * calls this; each prints its own lines.
 */
final class BesideFlink {
    private final Path project;

    /** @param project of Maven, with Flink and the program that runs it */
    BesideFlink(Path project) {
        this.project = project;
    }

    /** Compiles the program, and finds out where its libraries are. */
    void build() throws IOException, InterruptedException {
        run(List.of(
                "mvn",
                "-q",
                "-B",
                "-ntp",
                "-f",
                project.resolve("pom.xml").toString(),
                "compile",
                "dependency:build-classpath",
                "-Dmdep.outputFile=target/classpath"));
    }

    void measure(String bootstrap, String topic, int records, int rounds) throws IOException, InterruptedException {
        String java = System.getProperty("java.home") + "/bin/java";
        for (int turn = 0; turn < 2; turn++) {
            List<String> millrace = new ArrayList<>(List.of(java));
            millrace.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
            millrace.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), "kafka"));
            millrace.addAll(List.of("--of", bootstrap, "--records", "" + records, "--rounds", "" + rounds));
            run(millrace);
            Path target = project.resolve("target");
            String classpath = target.resolve("classes") + ":" + Files.readString(target.resolve("classpath"));
            run(List.of(
                    java,
                    "--add-opens=java.base/java.util=ALL-UNNAMED",
                    "--add-opens=java.base/java.lang=ALL-UNNAMED",
                    "-cp",
                    classpath,
                    "dev.millrace.peer.FlinkKafka",
                    bootstrap,
                    topic,
                    "" + records,
                    "" + rounds));
        }
    }

    private static void run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        int code = process.waitFor();
        if (code != 0) {
            throw new IllegalStateException(command.get(0) + " ended with " + code);
        }
    }
}
