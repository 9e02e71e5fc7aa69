package dev.millrace.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The arrows of ARCHITECTURE.md. Maven holds those between modules; here are those between packages and libraries. */
class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace");

    @Test
    void noPackagesImportEachOtherInCircles() {
        slices().matching("dev.millrace.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void theEngineNeverSeesSqlOrCalcite() {
        noClasses()
                .that()
                .resideInAnyPackage("dev.millrace.engine..", "dev.millrace.scheduler..", "dev.millrace.connectors..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.calcite..", "dev.millrace.sql..", "dev.millrace.planner..")
                .check(CLASSES);
    }

    @Test
    void theSchedulerNeverSeesPlansOrArrow() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.scheduler..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.millrace.plan..", "dev.millrace.engine..", "org.apache.arrow..")
                .check(CLASSES);
    }

    @Test
    void connectorsKnowBatchesAndNotQueries() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.connectors..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.millrace.plan..", "dev.millrace.engine..")
                .check(CLASSES);
    }

    @Test
    void onlyMemoryNamesUnsafe() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("dev.millrace.batch.Memory")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("sun.misc.Unsafe")
                .check(CLASSES);
    }
}
