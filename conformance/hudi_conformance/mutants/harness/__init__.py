"""What all mutants share: declaration and application, recorded kills, and the shortest schedules of those of concurrency."""
